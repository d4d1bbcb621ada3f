//! `pleat logs`, once and as it comes.

use serde_json::Value;

use crate::cli::Tenant;
use crate::harness::binary::Background;

fn say(word: &str) -> String {
    format!(r#"{{"do":"log","message":"{word}"}}"#)
}

#[tokio::test]
async fn lines_are_shown_oldest_first_with_where_they_came_from() {
    let tenant = Tenant::with_probe("logs").await;
    let none = tenant.pleat(&["logs"]).await.ok().says(&["no lines"]);
    assert_eq!(none.stdout, "");
    let first = tenant.task(&say("first")).await;
    let second = tenant.task(&say("second")).await;
    let shown = tenant.pleat(&["logs"]).await.ok().stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 2, "{shown}");
    for (line, (task, word)) in lines.iter().zip([(&first, "first"), (&second, "second")]) {
        assert!(line.ends_with(&format!("WARN  probe v1 {task} {word}")), "{line}");
    }
    assert!(tenant.pleat(&["logs", "-n", "1"]).await.ok().stdout.trim_end().ends_with("second"));
    assert!(tenant.pleat(&["logs", "--task", &first]).await.ok().stdout.trim_end().ends_with("first"));
    assert_eq!(tenant.pleat(&["logs", "probe", "-q"]).await.ok().stdout, shown);
    assert_eq!(tenant.pleat(&["logs", "other", "-q"]).await.ok().stdout, "");
    let rows = tenant.pleat(&["logs", "--json"]).await.ok().rows();
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (&rows[0]["message"], &rows[0]["level"], &rows[0]["task"]),
        (&"first".into(), &"warn".into(), &first.into())
    );
}

#[tokio::test]
async fn following_shows_each_new_line_once() {
    let tenant = Tenant::with_probe("logs-follow").await;
    tenant.task(&say("old")).await;
    let mut following = Background::start(&mut tenant.command(&["logs", "-f", "--json"]));
    let mut message = async || -> String {
        let row: Value = serde_json::from_str(&following.line().await).unwrap();
        row["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(message().await, "old");
    // One at a time and several at once: pages overlap, lines must not.
    tenant.task(&say("new 1")).await;
    assert_eq!(message().await, "new 1");
    for number in 2..6 {
        tenant.task(&say(&format!("new {number}"))).await;
    }
    for number in 2..6 {
        assert_eq!(message().await, format!("new {number}"));
    }
}
