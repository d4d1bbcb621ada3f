//! Which arguments of a tool go into headers is said by the list of tools. A client need not have asked for it, so that
//! the bridge does.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::relay::Relay;
use super::wire;

/// Far more than there are: a server that never ends is not followed for ever.
const MOST_PAGES: usize = 1_000;
const PATIENCE: Duration = Duration::from_secs(30);

impl Relay {
    /// Asks for the list if this calls a tool that is not known. `anew`: even if it is. What goes wrong here is told by
    /// the answer to the call.
    pub(super) async fn learn(&self, call: &Value, anew: bool) {
        let Some(tool) = wire::tool(call) else { return };
        // One asks, the others wait for what it learns.
        let _one = self.learning.lock().await;
        if !anew && self.knows(tool) {
            return;
        }
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let Ok(page) = self.page(call, cursor).await else { return };
            self.note(&page, "tools/list");
            cursor = page.pointer("/result/nextCursor").filter(|next| next.is_string()).cloned();
            if cursor.is_none() {
                break;
            }
        }
        // An unlisted tool is on no list, and is not looked for with every call.
        self.note_tool(tool);
    }

    async fn page(&self, call: &Value, cursor: Option<Value>) -> Result<Value> {
        let mut params = Map::from_iter([("_meta".to_owned(), identity(call))]);
        params.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor)));
        let list = json!({ "jsonrpc": "2.0", "id": "tools", "method": "tools/list", "params": params });
        self.client.answer_within(self.message(list.to_string(), &list), PATIENCE).await
    }
}

/// Who calls, in which version: not what belongs to the call alone.
fn identity(call: &Value) -> Value {
    let meta = call.pointer("/params/_meta").and_then(Value::as_object).into_iter().flatten();
    let kept = meta.filter(|(name, _)| name.starts_with("io.modelcontextprotocol/"));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}
