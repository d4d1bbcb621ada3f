//! What a run costs the database: one commit for each step, one to begin and one to end.

use serde_json::json;

use super::{output, server};

#[tokio::test]
async fn ten_steps_are_twelve_commits() {
    let server = server().await;
    let steps: Vec<String> = (0..10).map(|step| format!("{{id: s{step}, tool_name: echo}}")).collect();
    server.activate(&format!("name: ten\nsteps: [{}]", steps.join(", "))).await;
    server.run("ten", json!({ "warm": "up" })).await;
    let before = server.store.writer().commits();
    let run = server.run("ten", json!({ "x": 1 })).await;
    let used = server.store.writer().commits() - before;
    assert_eq!(output(&run), json!({ "x": 1 }));
    assert_eq!(server.steps(&run).await.len(), 10);
    assert!(used <= 12, "{used} commits");
}
