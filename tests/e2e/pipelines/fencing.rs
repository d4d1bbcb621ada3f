//! A node that has lost a run and does not know it yet: what it finishes is not added to what another goes on from.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use crate::harness::TestServer;

const TWO: &str = "
name: two
steps:
  - {id: a, tool_name: probe, input_mapping: {do: 'literal:sleep', ms: $input.ms}}
  - {id: b, tool_name: probe, input_mapping: {do: 'literal:random'}}
";

const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

#[tokio::test]
async fn a_step_that_ends_after_its_run_was_lost_is_not_recorded() {
    let database = crate::harness::database().await;
    let server = TestServer::start_on(pleat_store::StoreConfig::new(database.clone()), |_| {}, |_| {}).await;
    server.deploy_probe().await;
    server.activate(TWO).await;
    let mut outside = PgConnection::connect(&database).await.unwrap();
    let input = json!({ "skill": "pipeline:two", "message": { "ms": 700 } });
    let mut running = server.rpc_stream("", "tasks/sendSubscribe", input, None).await;
    let run = json!({ "id": running.next().await.unwrap().data["result"]["id"] });
    while server.engine.slots().held == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // As a takeover leaves it, by a node that lives: this one has not been told.
    let lives = "INSERT INTO nodes (id, epoch) VALUES ('018f0000-0000-7000-8000-000000000001', 1)";
    let taken = "UPDATE tasks SET lease_owner = '018f0000-0000-7000-8000-000000000001', lease_epoch = 1 \
                 WHERE skill = 'pipeline:two' RETURNING 1";
    sqlx::query(lives).execute(&mut outside).await.unwrap();
    assert_eq!(sqlx::query(taken).fetch_all(&mut outside).await.unwrap().len(), 1);
    assert!(server.steps(&run).await.is_empty(), "the step has not ended yet");
    let let_go = async {
        while server.engine.running_tasks() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), let_go).await.expect("it lets the run go");
    assert!(server.steps(&run).await.is_empty(), "what it did is not in the run's journal");

    // The other one gives it back, and the run goes on from what is recorded, which is nothing.
    let given = format!("UPDATE tasks SET lease_owner = '{NOBODY}' WHERE skill = 'pipeline:two'");
    sqlx::query(sqlx::AssertSqlSafe(given)).execute(&mut outside).await.unwrap();
    let done = async {
        loop {
            let task: Value = server.task(run["id"].as_str().unwrap()).await;
            if task["state"] != "working" {
                return task;
            }
        }
    };
    let task = tokio::time::timeout(Duration::from_secs(20), done).await.expect("it ends");
    assert_eq!(task["state"], "completed", "{task:#}");
    let steps = server.steps(&run).await;
    let expected = [("a#1".to_owned(), "completed".to_owned()), ("b#1".to_owned(), "completed".to_owned())];
    assert_eq!(steps, expected);
}
