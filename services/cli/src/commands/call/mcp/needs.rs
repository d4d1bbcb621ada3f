//! A function that asks its caller's client: this one is a command line, which nobody can ask over MCP.

use serde_json::Value;

use super::super::Call;
use crate::problem::Problem;

/// The server's code for it.
const MISSING_CAPABILITY: i64 = -32021;

/// What an error says the client would have to declare.
pub fn read(error: &Value) -> Option<Value> {
    error.get("code").filter(|code| **code == MISSING_CAPABILITY)?;
    error.pointer("/data/requiredCapabilities").cloned()
}

pub fn unable(call: &Call<'_>, needed: &Value) -> anyhow::Error {
    let names = names(needed);
    let (skill, all) = (call.skill, names.join("`, `"));
    let message =
        format!("`{skill}` asks its caller's client, and over MCP this command cannot be asked: it needs `{all}`");
    let client = format!("a client of MCP that declares `{all}`; `pleat mcp stdio` connects one to the server");
    // A question to the user is one at every door, unless the function puts it to clients of MCP alone.
    let hint = match names.as_slice() {
        [name] if name == "elicitation" => format!(
            "call it with `--via http` or `--via a2a`: the task waits there, and `pleat call {skill} ANSWER --task ID` \
             answers it; a function that asks clients of MCP only takes {client}"
        ),
        _ => format!("it takes {client}"),
    };
    Problem::failed(message, hint).into()
}

/// Extensions by their own names.
fn names(needed: &Value) -> Vec<String> {
    let members = |value: &Value| value.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let mut all: Vec<String> = members(needed);
    all.retain(|name| name != "extensions");
    all.extend(needed.get("extensions").map(members).unwrap_or_default());
    all
}
