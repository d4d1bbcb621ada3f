//! Finding a server again that was away: a lost stream, and a session that it no longer knows.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

use super::relay::{Relay, is_stream};

/// The first pause before another try; each is twice as long as the one before, up to the longest.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(10);

/// Tries to find the rest of an answer: about a minute.
pub const FOR_AN_ANSWER: u32 = 10;

impl Relay {
    /// A stream of the session, from behind an event; `None` when the server will not give it, or did not in so many tries.
    pub async fn find(&self, last: Option<&str>, tries: u32) -> Option<Response> {
        let mut pause = FIRST;
        for _ in 0..tries {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST);
            if let Ok(response) = self.stream(last).await? {
                return Some(response);
            }
        }
        None
    }

    /// `None`: it is refused. An error: not now.
    pub async fn stream(&self, last: Option<&str>) -> Option<Result<Response, ()>> {
        let session = self.session();
        let mut request = self.request(Method::GET);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        match self.client.send(request).await {
            Ok(response) if is_stream(&response) => Some(Ok(response)),
            Ok(response) if response.status() == StatusCode::NOT_FOUND => {
                self.begin_again(session).await;
                Some(Err(()))
            }
            Ok(response) if is_passing(response.status()) => Some(Err(())),
            Ok(_) => None,
            Err(_) => Some(Err(())),
        }
    }

    /// Shakes hands again in the client's words, in place of a session that the server does not know any more. `false`:
    /// there is no other session now.
    pub async fn begin_again(&self, gone: Option<String>) -> bool {
        let _one = self.beginning.lock().await;
        if self.session() != gone {
            return self.session().is_some();
        }
        let Some(first) = self.handshake() else { return false };
        let post = |body: String| self.request(Method::POST).header(CONTENT_TYPE, "application/json").body(body);
        let Ok(answer) = self.client.send(post(first)).await else { return false };
        let Some(session) = answer.headers().get("mcp-session-id").and_then(|id| id.to_str().ok()) else {
            return false;
        };
        self.set_session(session.to_owned());
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.client.send(post(ready.to_string())).await.is_ok()
    }
}

/// A server that is busy or away comes back.
fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::REQUEST_TIMEOUT
}

/// A refusal as the answer to the request that it is about: what is refused before it is read names no request.
pub fn addressed(mut answer: Value, id: &Value, status: StatusCode) -> Value {
    let Some(fields) = answer.as_object_mut().filter(|_| !id.is_null()) else { return answer };
    if fields.contains_key("jsonrpc") {
        if fields.get("id").is_none_or(Value::is_null) {
            fields.insert("id".to_owned(), id.clone());
        }
        return answer;
    }
    let said = answer.pointer("/error/message").and_then(Value::as_str);
    let message = said.map_or_else(|| format!("the server answered {status}"), str::to_owned);
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32603, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_request_that_it_is_about() {
        let refused = |answer: Value, id: Value| addressed(answer, &id, StatusCode::UNAUTHORIZED);
        let nameless = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32052, "message": "no" } });
        assert_eq!(refused(nameless.clone(), json!("a"))["id"], "a");
        assert_eq!(refused(nameless.clone(), Value::Null), nameless, "nobody asked");
        let named = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
        assert_eq!(refused(named.clone(), json!(2)), named);
        let plain = refused(json!({ "error": { "code": "busy", "message": "try again" } }), json!(3));
        assert_eq!((&plain["id"], &plain["error"]["message"]), (&json!(3), &json!("try again")));
        assert_eq!(refused(json!([1]), json!(3)), json!([1]), "several have ids of their own");
    }
}
