//! The control API: what each route does, and what it refuses.

mod audit;
mod description;
mod functions;
mod input;
mod keys;
mod logs;
mod operator_keys;
mod tasks;
mod tenants;
mod versions;

use reqwest::Method;
use serde_json::Value;

use crate::harness::{TestServer, fixture};

/// The smallest function, which answers with `word` (two characters): every word is another version.
pub fn saying(word: &str) -> Vec<u8> {
    assert_eq!(word.len(), 2, "the component's data has room for two");
    String::from_utf8(fixture("minimal.wat")).unwrap().replace(r#""\"ok\"""#, &format!(r#""\"{word}\"""#)).into_bytes()
}

impl TestServer {
    async fn get(&self, path: &str) -> Value {
        let (status, body) = self.api(Method::GET, path, &self.admin, None).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// Expects an error, and gives its status and code.
    async fn refusal(&self, method: Method, path: &str, key: &str, body: Option<Value>) -> (u16, String) {
        let (status, answer) = self.api(method, path, key, body).await;
        let code = answer["error"]["code"].as_str().unwrap_or_else(|| panic!("{path}: {status} {answer}"));
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty() && !message.ends_with('.'), "{path}: {answer}");
        (status, code.to_owned())
    }
}

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}
