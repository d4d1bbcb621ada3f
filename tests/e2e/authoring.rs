//! From nothing to a called function, in each language: `pleat init`, `pleat deploy` without a path, and what is said
//! where a tool is missing.

mod python;
mod templates;
mod tools;

use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio::process::Command;

use crate::harness::binary::{self, Ran};
use crate::harness::dev::Dev;

/// A place to write functions in, with a tenant of its own.
struct Desk {
    url: String,
    key: String,
    files: tempfile::TempDir,
}

impl Desk {
    async fn new(tenant: &str) -> Self {
        let dev = Dev::shared().await;
        let made = dev.pleat(&["tenants", "create", tenant, "--json"]).await.ok().json();
        Self::at(dev.url(), made["adminKey"].as_str().unwrap())
    }

    fn at(url: &str, key: &str) -> Self {
        Self { url: url.to_owned(), key: key.to_owned(), files: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// In a directory of the desk.
    fn command(&self, directory: impl AsRef<Path>, arguments: &[&str]) -> Command {
        let mut command = binary::command(&self.files.path().join(directory), arguments);
        command.env("PLEAT_URL", &self.url).env("PLEAT_KEY", &self.key);
        command
    }

    async fn pleat(&self, directory: &str, arguments: &[&str]) -> Ran {
        binary::run(&mut self.command(directory, arguments)).await
    }

    async fn functions(&self) -> Vec<String> {
        let list = self.pleat("", &["list", "--json"]).await.ok().json();
        let names = list["functions"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned());
        names.collect()
    }

    async fn call(&self, function: &str, input: &Value) -> Value {
        self.pleat("", &["call", function, &input.to_string(), "--json"]).await.ok().json()
    }
}
