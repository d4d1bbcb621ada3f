//! Every shell line of README.md, docs/*.md and the guides of functions-sdk is run, in the order of its page, against a real `pleat dev`.
//!
//! For whoever writes a page: put shell lines into a block fenced as `sh`. All blocks of a page run in one bash
//! session, so variables and files of one are there for the next; the session ends at the first command that fails.
//! Where it runs, these are as the reader has them:
//!
//! - `pleat` and `./target/release/pleat` are the built binary; a `pleat dev` that was just started is found by it,
//! - `127.0.0.1:8787` (`demo.localhost:8787`) is that server; `127.0.0.1:8788` is a free port for a second one,
//! - `functions-sdk/` and `deploy/` are those of the source tree (do not write there); all else is an empty directory.
//!
//! A comment on the line above the fence changes how a block is taken, or what is expected of it:
//!
//! - `<!-- not-run: reason -->`: cannot run in a test (needs Docker, the network, a release build, never ends),
//! - `<!-- fails: reason -->`: must end with an exit code other than 0 or print an error; anything else is a fault,
//! - `<!-- prints: text -->`: what it prints must contain the text,
//! - `<!-- background: http://127.0.0.1:8788/readyz -->`: goes on while the rest of the page runs, which begins when
//!   that address answers.
//!
//! Without one of these a block must succeed and may not print a JSON error. One page alone, with what it printed:
//! `DOCS_PAGE=docs/http.md cargo test -p pleat --test e2e docs -- --nocapture`.

mod page;
mod session;

use futures::StreamExt;

use self::page::Page;

/// Each page has a server of its own; a machine with two cores can bear this many at once.
const AT_ONCE: usize = 3;

#[tokio::test]
async fn every_shell_line_of_the_readme_and_the_docs_runs() {
    let only = std::env::var("DOCS_PAGE").ok();
    let pages: Vec<Page> =
        Page::all().into_iter().filter(|page| only.as_ref().is_none_or(|only| *only == page.name)).collect();
    assert!(!pages.is_empty(), "{only:?} is no page");
    let runs = pages.into_iter().filter(Page::has_something_to_run).map(|page| async move {
        let faults = session::run(&page).await;
        if faults.is_empty() { String::new() } else { format!("\n{}", faults.join("\n")) }
    });
    let faults: String = futures::stream::iter(runs).buffer_unordered(AT_ONCE).collect::<Vec<_>>().await.concat();
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn the_search_finds_the_pages_and_their_blocks() {
    let pages = Page::all();
    assert!(pages.iter().any(|page| page.name == "README.md" && page.blocks.len() > 5));
    assert!(pages.iter().filter(|page| page.name.starts_with("docs/")).count() > 8);
    let unreasoned: Vec<_> = pages.iter().flat_map(Page::without_reason).collect();
    assert!(unreasoned.is_empty(), "say why it is not run, or fails: {unreasoned:?}");
}
