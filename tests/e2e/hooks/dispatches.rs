//! The dispatch log: what is told of an external agent has a row, and what is told of a function has none.

use std::time::Duration;

use pleat_domain::{
    Failure, KeyLimits, Principal, Raw, Reason, Scope, Scopes, SkillName, TaskId, TaskState, TenantSlug, json as strict,
};
use pleat_engine::{VerbEvent, VerbOutcome};
use serde_json::json;
use time::OffsetDateTime;

use crate::harness::TestServer;

#[tokio::test]
async fn calls_of_external_agents_are_logged() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    server.http("", "echo", json!(1)).await;
    let engine = &server.engine;
    let tenant = engine.tenant(&TenantSlug::parse("acme").unwrap()).await.unwrap();
    let (verb, args): (_, Raw) = (SkillName::parse("reviewer-review").unwrap(), strict::raw(&json!({ "a": 1 })));
    let event = VerbEvent {
        verb: &verb,
        legacy_alias: Some("a2a_reviewer_review"),
        tenant: &tenant,
        agent_card_id: Some("card-1"),
        agent_url: Some("https://agent.example/a2a"),
        skill_id: "review",
        session_id: "ctx-1",
        task: TaskId::new(),
        caller: "key:x",
        args: &args,
        emitted_at: OffsetDateTime::now_utc(),
    };
    let failure = Failure { code: Some("-32201".to_owned()), ..Failure::new(Reason::WallLimit, "too slow") };
    engine.hooks().before(&event).unwrap();
    for failure in [None, Some(&failure)] {
        let outcome = if failure.is_some() { TaskState::Failed } else { TaskState::Completed };
        let duration = Duration::from_millis(12);
        let seen = VerbOutcome { outcome, failure, artifacts: &[], result: None, duration, cpu: Duration::ZERO };
        assert_eq!(engine.hooks().after(&event, seen), None);
    }
    let reader = Principal::Key {
        id: "reader".to_owned(),
        tenant: tenant.id,
        scopes: Scopes::of([Scope::Read]),
        limits: KeyLimits::default(),
    };
    assert!(engine.dispatches(&tenant, &Principal::Anonymous, 10).await.is_err());
    let rows = engine.dispatches(&tenant, &reader, 10).await.unwrap();
    let [failed, completed] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((completed.outcome.as_str(), &completed.error_code), ("completed", &None));
    assert_eq!((failed.outcome.as_str(), failed.error_code.as_deref()), ("failed", Some("-32201")));
    assert_eq!(failed.error_message.as_deref(), Some("too slow"));
    for row in &rows {
        assert_eq!((row.verb.as_str(), row.legacy_alias.as_deref()), ("reviewer-review", Some("a2a_reviewer_review")));
        assert_eq!(
            (row.agent_card_id.as_deref(), row.agent_url.as_str()),
            (Some("card-1"), "https://agent.example/a2a")
        );
        assert_eq!((row.skill_id.as_str(), row.session_id.as_str(), row.caller.as_str()), ("review", "ctx-1", "key:x"));
        assert_eq!((row.task, row.duration_ms), (event.task, 12));
    }
}
