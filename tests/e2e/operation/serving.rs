//! `pleat serve` as a process, on a database of the test's, with a configuration of the test's.

use serde_json::Value;

use crate::harness::database;
use crate::harness::dev::Server;
use crate::harness::project::{Project, write};

pub const MASTER: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

pub struct Serving {
    pub server: Server,
    pub url: String,
    /// The second address, if the configuration asks for one.
    pub probes: Option<String>,
    pub operator: String,
}

impl Serving {
    /// Ready when it says where it listens.
    pub async fn start(configuration: &str, environment: &[(&str, &str)]) -> Self {
        Self::start_in(Project::with_code().await, &database().await, configuration, environment).await
    }

    pub async fn start_in(project: Project, database: &str, configuration: &str, environment: &[(&str, &str)]) -> Self {
        write(&project.path, "pleat.toml", configuration);
        let mut all = vec![("PLEAT_MASTER_KEY", MASTER), ("DATABASE_URL", database)];
        all.extend(environment);
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--log-format", "json"];
        let mut server = Server::spawn(project, &arguments, &all);
        let address = server.until("line that says where it listens", |project| field(&project.log(), "address")).await;
        let probes = field(&server.project.log(), "metrics.address");
        let operator = std::fs::read_to_string(server.project.data_dir().join("operator.key")).unwrap();
        let url = |address| format!("http://{address}");
        Self { server, url: url(address), probes: probes.map(url), operator: operator.trim().to_owned() }
    }

    /// A tenant `acme` with the probe; its key.
    pub async fn with_probe(&self) -> String {
        let project = &self.server.project;
        let create = ["tenants", "create", "acme", "--json", "--url", &self.url, "--key", &self.operator];
        let key = project.pleat(&create).await.ok().json()["adminKey"].as_str().unwrap().to_owned();
        let probe = crate::harness::root().join("tests/fixtures/probe.wasm").display().to_string();
        project.pleat(&["deploy", "--name", "probe", &probe, "--url", &self.url, "--key", &key]).await.ok();
        key
    }
}

/// The first record of a JSON log that has this field.
pub fn field(log: &str, name: &str) -> Option<String> {
    let mut records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records.find_map(|record| Some(record.get(name)?.as_str()?.to_owned()))
}
