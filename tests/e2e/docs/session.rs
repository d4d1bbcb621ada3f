//! One page's session: a script made of its blocks, run by bash beside a server, and its output held against what the
//! page says of each block.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::page::{Block, Kind, Page};
use crate::harness::dev::Dev;
use crate::harness::project::Project;
use crate::harness::{binary, pleat, root};

/// For a whole page on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Ends what a session left running in the background, and waits for it: it has a database to stop. For bash: not every
/// shell can tell a whole group.
const END: &str = r#"
kill -TERM -- "-$1" 2> /dev/null || exit 0
tries=0
while kill -0 -- "-$1" 2> /dev/null; do
    [ "$tries" -ge 300 ] && exec kill -KILL -- "-$1"
    sleep 0.1; tries=$((tries + 1))
done
"#;

/// What is wrong with the page; empty if nothing is.
pub async fn run(page: &Page) -> Vec<String> {
    let dev = Dev::start(Project::started_before().await).await;
    let directory = dev.project().path.clone();
    furnish(&directory);
    let script = script(page, &dev);
    std::fs::write(directory.join(".session.sh"), &script).unwrap();
    let (ended, output) = bash(&directory).await;
    if std::env::var_os("DOCS_PAGE").is_some() {
        eprintln!("{output}");
    }
    let mut faults = judge(page, &output);
    if !ended && faults.is_empty() {
        faults.push(format!("{}: the session did not end well\n{}", page.name, tail(&output)));
    }
    faults
}

/// What the reader has around: the built binary, and parts of the source tree.
fn furnish(directory: &Path) {
    std::fs::create_dir_all(directory.join("target/release")).unwrap();
    std::os::unix::fs::symlink(pleat(), directory.join("target/release/pleat")).unwrap();
    for part in ["functions-sdk", "deploy"] {
        std::os::unix::fs::symlink(root().join(part), directory.join(part)).unwrap();
    }
}

/// Each block after a line that says which it is.
fn script(page: &Page, dev: &Dev) -> String {
    let address = dev.url().trim_start_matches("http://");
    let port = address.rsplit(':').next().unwrap();
    let second = free_port();
    let mut script = String::from("set -euo pipefail\nexport PATH=\"$PWD/target/release:$PATH\"\n");
    for block in &page.blocks {
        let text = block.text.replace(":8787", &format!(":{port}")).replace(":8788", &format!(":{second}"));
        script += &format!("echo; echo '@@ {}'\n", block.line);
        script += &match &block.kind {
            Kind::NotRun { .. } => String::new(),
            Kind::Runs | Kind::Prints { .. } => format!("{text}\n"),
            Kind::Fails { .. } => format!("set +e\n( {text}\n)\necho \"@@ exit $?\"\nset -e\n"),
            Kind::Background { ready } => {
                let ready = ready.replace(":8787", &format!(":{port}")).replace(":8788", &format!(":{second}"));
                format!("{{ {text}\n}} &\nuntil curl -sf {ready} > /dev/null; do kill -0 $!; sleep 0.1; done\n")
            }
        };
    }
    script + "echo; echo '@@ end'\n"
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Whether it ended with 0, and everything it printed.
async fn bash(directory: &Path) -> (bool, String) {
    let printed = directory.join(".session.out");
    let out = std::fs::File::create(&printed).unwrap();
    let mut command = std::process::Command::new("bash");
    binary::without_our_environment(&mut command);
    command.arg(".session.sh").current_dir(directory).stdin(Stdio::null());
    // A group of its own, so that everything a session started can be ended with it.
    command.stdout(out.try_clone().unwrap()).stderr(out).process_group(0);
    let mut child = tokio::process::Command::from(command).spawn().expect("bash runs");
    let group = child.id().expect("it runs");
    let ended = tokio::time::timeout(PATIENCE, child.wait()).await;
    let end = std::process::Command::new("bash").args(["-c", END, "bash", &group.to_string()]).status();
    assert!(end.expect("a shell").success(), "what the session started has ended");
    let well = ended.is_ok_and(|status| status.expect("it can be waited for").success());
    (well, std::fs::read_to_string(&printed).unwrap_or_default())
}

fn judge(page: &Page, output: &str) -> Vec<String> {
    let printed = by_block(output);
    let whole = output.lines().any(|line| line == "@@ end");
    // Without its end, the last block that was begun is the one that ended the session.
    let ended_by = printed.keys().last().copied().filter(|_| !whole);
    let judged = page.blocks.iter().filter_map(|block| {
        let text = printed.get(&block.line)?;
        let fault = fault(block, text, ended_by == Some(block.line))?;
        Some(format!("{}:{}: {fault}\n{}", page.name, block.line, tail(text)))
    });
    judged.collect()
}

fn fault(block: &Block, printed: &str, ended_the_session: bool) -> Option<String> {
    // A card foretells errors; that is not one.
    let error = printed.lines().any(|line| line.contains("\"error\":{\"code\"") && !line.contains("\"errorShape\""));
    match &block.kind {
        Kind::NotRun { .. } => None,
        Kind::Fails { .. } if printed.contains("@@ exit 0") && !error => Some("did not fail".to_owned()),
        Kind::Fails { .. } => None,
        _ if ended_the_session => Some("failed".to_owned()),
        Kind::Prints { text } if !printed.contains(text.as_str()) => Some(format!("did not print `{text}`")),
        Kind::Runs | Kind::Prints { .. } if error => Some("printed an error".to_owned()),
        _ => None,
    }
}

/// What each block printed, by its line.
fn by_block(output: &str) -> BTreeMap<usize, String> {
    let mut all: BTreeMap<usize, String> = BTreeMap::new();
    for line in output.lines() {
        let begins = line.strip_prefix("@@ ").and_then(|name| name.parse().ok());
        match (begins, all.last_entry()) {
            (Some(number), _) => drop(all.insert(number, String::new())),
            (None, Some(mut current)) => current.get_mut().push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    all
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(15)..].iter().map(|line| format!("    {line}\n")).collect()
}
