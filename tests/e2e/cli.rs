//! The command line, as it is typed: every command against a running `pleat dev`.
//!
//! Data on stdout, talk on stderr, and the exit code: these are what scripts stand on, so they are exact here.

mod call;
mod deploy;
mod guard;
mod help;
mod issuers;
mod keys;
mod logs;
mod mcp;
mod output;
mod pipelines;
mod push;
mod raw;
mod target;
mod tasks;
mod tenants;
mod versions;

use tokio::process::Command;

use crate::harness::binary::{self, Ran};
use crate::harness::dev::Dev;
use crate::harness::root;

/// A tenant for one test, so that lists are exact.
struct Tenant {
    dev: &'static Dev,
    slug: String,
    /// May do everything in the tenant.
    key: String,
    /// Files of the test.
    files: tempfile::TempDir,
}

impl Tenant {
    async fn new(slug: &str) -> Self {
        let dev = Dev::shared().await;
        let made = dev.pleat(&["tenants", "create", slug, "--json"]).await.ok().json();
        let key = made["adminKey"].as_str().unwrap().to_owned();
        Self { dev, slug: slug.to_owned(), key, files: tempfile::tempdir().unwrap() }
    }

    /// One with the `probe`, whose input selects what it does.
    async fn with_probe(slug: &str) -> Self {
        let tenant = Self::new(slug).await;
        let probe = root().join("tests/fixtures/probe.wasm").display().to_string();
        tenant.pleat(&["deploy", &probe, "--name", "probe"]).await.ok();
        tenant
    }

    /// Writes a file and gives its path.
    fn file(&self, name: &str, text: &str) -> String {
        crate::harness::project::write(self.files.path(), name, text)
    }

    /// The smallest function, answering `word`, which has two letters.
    fn minimal(&self, name: &str, word: &str) -> String {
        let text = String::from_utf8(crate::harness::fixture("minimal.wat")).unwrap();
        let changed = text.replace(r#""\"ok\"""#, &format!(r#""\"{word}\"""#));
        assert!(word == "ok" || changed != text, "the fixture has changed");
        self.file(name, &changed)
    }

    /// A command that finds the server by itself and has the tenant's key.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.dev.command(arguments);
        command.env("PLEAT_KEY", &self.key);
        command
    }

    async fn pleat(&self, arguments: &[&str]) -> Ran {
        binary::run(&mut self.command(arguments)).await
    }

    /// The task that a call over A2A made.
    async fn task(&self, input: &str) -> String {
        let ran = self.pleat(&["call", "probe", input, "--via", "a2a", "--json"]).await;
        ran.json()["id"].as_str().unwrap_or_else(|| panic!("{ran:?}")).to_owned()
    }

    fn url(&self, path: &str) -> String {
        format!("{}/t/{}{path}", self.dev.url(), self.slug)
    }
}
