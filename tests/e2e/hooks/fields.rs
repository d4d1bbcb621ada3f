//! Every field of every event, at every door and between tasks; and that the meter is one of those who are told.

use std::sync::{Arc, Mutex};

use pleat_domain::Failure;
use pleat_engine::{Denied, Hook, VerbEvent, VerbOutcome};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::harness::{TestServer, Tongue};
use crate::mcp::Client;

/// Writes down every event with all its fields.
#[derive(Default)]
pub(super) struct Recorder(Mutex<Vec<Told>>, tokio::sync::Notify);

#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) phase: &'static str,
    pub(super) verb: String,
    pub(super) fields: Value,
    pub(super) args: Value,
    pub(super) session: String,
    pub(super) at: OffsetDateTime,
    /// Of an outcome: how it ended and with how many bytes; of an error: its reason.
    pub(super) end: Value,
}

impl Recorder {
    fn note(&self, phase: &'static str, event: &VerbEvent<'_>, end: Value) {
        let fields = json!([
            event.legacy_alias,
            event.tenant.slug.as_str(),
            event.agent_card_id,
            event.agent_url,
            event.skill_id,
            event.caller
        ]);
        let told = Told {
            phase,
            verb: event.verb.to_string(),
            fields,
            args: serde_json::from_str(event.args.get()).unwrap(),
            session: event.session_id.to_owned(),
            at: event.emitted_at,
            end,
        };
        self.0.lock().unwrap().push(told);
        self.1.notify_one();
    }

    /// Waits until so much was told.
    pub(super) async fn until(&self, count: usize) {
        while self.0.lock().unwrap().len() < count {
            self.1.notified().await;
        }
    }

    pub(super) fn take(&self) -> Vec<Told> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Hook for Recorder {
    fn before(&self, event: &VerbEvent<'_>) -> Result<(), Denied> {
        self.note("pre", event, Value::Null);
        Ok(())
    }

    fn after(&self, event: &VerbEvent<'_>, outcome: &VerbOutcome<'_>) -> Result<(), Denied> {
        assert!(outcome.duration >= outcome.cpu || outcome.cpu.as_millis() < 50, "{outcome:?}");
        self.note("post", event, json!([outcome.outcome.as_str(), outcome.output_bytes()]));
        Ok(())
    }

    fn error(&self, event: &VerbEvent<'_>, failure: &Failure) {
        self.note("error", event, json!(failure.reason.as_str()));
    }
}

const OUTER: &str = "export const description = 'Calls echo';
    export const capabilities = { skills: ['echo'] };
    export default (input, ctx) => ctx.call('echo', { inner: input.x });";

async fn recorded() -> (TestServer, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let hook = Arc::clone(&recorder);
    let server = TestServer::start_with(|config| config.hooks.push(hook), |_| {}).await;
    server.deploy_echo().await;
    server.deploy_probe().await;
    server.deploy("outer.js", OUTER, "&visibility=public&grant=all").await;
    (server, recorder)
}

/// One call: told of before and after, each at its own time, with the same fields.
fn pair(told: &[Told], verb: &str, args: &Value, session: Option<&str>) {
    let of: Vec<&Told> = told.iter().filter(|told| told.verb == verb).collect();
    let [pre, post] = of.as_slice() else { panic!("{verb}: {told:?}") };
    assert_eq!((pre.phase, post.phase), ("pre", "post"));
    let expected = json!([null, "acme", null, null, verb, "anonymous"]);
    for one in [pre, post] {
        assert_eq!((&one.fields, &one.args), (&expected, args));
        assert_eq!(one.session, session.unwrap_or(&pre.session));
    }
    assert!(post.at > pre.at, "{pre:?} {post:?}");
    assert_eq!(post.end[0], "completed");
    assert!(post.end[1].as_u64() > Some(0), "{post:?}");
}

#[tokio::test]
async fn every_door_tells_every_field() {
    let (server, recorder) = recorded().await;
    let input = json!({ "x": 1 });
    server.http("", "echo", input.clone()).await;
    pair(&recorder.take(), "echo", &input, None);
    server.rpc("tasks/send", json!({ "skill": "echo", "message": input })).await;
    pair(&recorder.take(), "echo", &input, None);
    for tongue in Tongue::ALL {
        let mut message = tongue.call("echo", input.clone());
        message["contextId"] = json!("ctx-of-mine");
        let answer = tongue.send(&server, "", json!({ "message": message })).await;
        let session = answer.task()["contextId"].as_str().unwrap().to_owned();
        pair(&recorder.take(), "echo", &input, Some(&session));
        tongue.stream(&server, "", json!({ "message": tongue.call("echo", input.clone()) })).await.all().await;
        pair(&recorder.take(), "echo", &input, None);
    }
    Client::open(&server, json!({})).await.call("echo", input.clone()).await;
    pair(&recorder.take(), "echo", &input, None);
}

#[tokio::test]
async fn calls_between_functions_and_steps_are_told_like_any_other() {
    let (server, recorder) = recorded().await;
    let input = json!({ "x": 1 });
    server.http("", "outer", input.clone()).await;
    let told = recorder.take();
    pair(&told, "outer", &input, None);
    pair(&told, "echo", &json!({ "inner": 1 }), Some(&told[0].session));
    let order: Vec<(&str, &str)> = told.iter().map(|one| (one.phase, one.verb.as_str())).collect();
    assert_eq!(order, [("pre", "outer"), ("pre", "echo"), ("post", "echo"), ("post", "outer")]);

    let pipeline = json!({ "name": "two", "description": "Two steps", "steps": [{ "id": "a", "tool_name": "echo" }] });
    let url = format!("{}/api/v1/tenants/acme/pipelines?activate=true&visibility=public", server.url);
    let sent = server.client.post(url).bearer_auth(&server.deploy).json(&pipeline).send().await.unwrap();
    assert_eq!(sent.status(), 201, "{}", sent.text().await.unwrap());
    let (status, body) = server.http("", "pipeline:two", input.clone()).await;
    assert_eq!((status, &body), (200, &input));
    let told = recorder.take();
    pair(&told, "pipeline:two", &input, None);
    pair(&told, "echo", &input, Some(&told[0].session));
}

#[tokio::test]
async fn a_failure_is_told_twice_and_metered_once() {
    let (server, recorder) = recorded().await;
    let failing = json!({ "do": "fail", "code": "c", "message": "m" });
    server.http("", "probe", failing.clone()).await;
    server.http("", "probe", json!({ "do": "echo", "value": "four" })).await;
    let told = recorder.take();
    let ends: Vec<(&str, &Value)> = told.iter().map(|one| (one.phase, &one.end)).collect();
    let none = Value::Null;
    let (failed, reason, completed) = (json!(["failed", 0]), json!("function_error"), json!(["completed", 6]));
    assert_eq!(
        ends,
        [("pre", &none), ("post", &failed), ("error", &reason), ("pre", &none), ("post", &completed)],
        "{told:?}"
    );
    assert!(told[2].at >= told[1].at && told[1].at > told[0].at);
    let (status, usage) = server.api(reqwest::Method::GET, "/tenants/acme/usage?skill=probe", &server.read, None).await;
    assert_eq!(status, 200, "{usage}");
    let day = &usage["usage"][0];
    let counted = ["calls", "failures", "inputBytes", "outputBytes"].map(|name| day[name].as_u64());
    let bytes = failing.to_string().len() + json!({ "do": "echo", "value": "four" }).to_string().len();
    assert_eq!(counted, [Some(2), Some(1), u64::try_from(bytes).ok(), Some(6)], "{usage}");
}
