//! `--help` of every command, found by walking them.

use std::path::Path;

use crate::harness::binary::{command, run};

/// The names below `Commands:`.
fn commands(help: &str) -> Vec<String> {
    let Some((_, rest)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let lines = rest.lines().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("    "));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

const COMMANDS: &[&str] = &[
    "dev",
    "serve",
    "init",
    "deploy",
    "list",
    "versions",
    "rollback",
    "delete",
    "call",
    "pipeline",
    "tasks",
    "logs",
    "push",
    "guard",
    "secrets",
    "settings",
    "keys",
    "issuers",
    "tenants",
    "usage",
    "audit",
    "operator-keys",
    "card",
    "mcp",
    "config",
    "doctor",
    "completions",
    "version",
];
/// How many commands some of them have below.
const BELOW: &[(&str, usize)] = &[
    ("pipeline", 10),
    ("tasks", 5),
    ("secrets", 4),
    ("settings", 4),
    ("keys", 3),
    ("issuers", 4),
    ("tenants", 6),
    ("card", 4),
    ("push", 4),
    ("guard", 6),
    ("mcp", 1),
    ("operator-keys", 5),
];

async fn help(path: &[String]) -> String {
    let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
    arguments.push("--help");
    let ran = run(&mut command(Path::new("/"), &arguments)).await.ok();
    assert_eq!(ran.stderr, "", "help that was asked for is data");
    ran.stdout
}

#[tokio::test]
async fn every_command_has_help_with_an_example_of_itself() {
    let top = commands(&help(&[]).await);
    assert_eq!(top, COMMANDS, "the compiler's own command stays hidden");
    let mut left: Vec<Vec<String>> =
        std::iter::once(Vec::new()).chain(top.into_iter().map(|name| vec![name])).collect();
    let mut walked = 0;
    while let Some(path) = left.pop() {
        let text = help(&path).await;
        let (_, examples) =
            text.split_once("Examples:\n").unwrap_or_else(|| panic!("{path:?} has no example:\n{text}"));
        let typed = format!("pleat {}", path.join(" "));
        assert!(examples.contains(typed.trim_end()), "no example of `{typed}`:\n{text}");
        walked += 1;
        if !path.is_empty() {
            left.extend(commands(&text).into_iter().map(|name| [path.clone(), vec![name]].concat()));
        }
    }
    let below: usize = BELOW.iter().map(|(_, commands)| commands).sum();
    assert_eq!(walked, 1 + COMMANDS.len() + below, "these have commands of their own");
}

#[tokio::test]
async fn a_call_says_why_an_answer_goes_over_a2a() {
    let text = help(&["call".to_owned()]).await.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("goes over A2A, because the other doors have no conversation here"), "{text}");
}

#[tokio::test]
async fn wrong_usage_exits_with_2_and_leaves_stdout_alone() {
    let wrong: [&[&str]; 10] = [
        &[],
        &["bogus"],
        &["deploy"],
        &["call"],
        &["call", "Not A Name"],
        &["tasks", "get", "not-a-task"],
        &["tasks", "list", "--state", "bogus"],
        &["rollback", "hello", "--to", "zero"],
        &["keys", "create"],
        &["deploy", "x.js", "--public", "--unlisted"],
    ];
    for arguments in wrong {
        let ran = run(&mut command(Path::new("/"), arguments)).await.failed(2);
        assert!(!ran.stderr.is_empty(), "{arguments:?}");
    }
}

#[tokio::test]
async fn the_version_is_data() {
    let ran = run(&mut command(Path::new("/"), &["--version"])).await.ok();
    assert_eq!(ran.stdout, format!("pleat {}\n", env!("CARGO_PKG_VERSION")));
}
