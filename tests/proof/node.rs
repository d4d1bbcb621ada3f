//! One node of the platform as its operator runs it: `pleat serve`, a process of its own on a database of its own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::harness::dev::Server;
use crate::harness::project::{Project, is_alive};
use crate::harness::{database, read};

const MASTER: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const PATIENCE: Duration = Duration::from_secs(240);

pub struct Node {
    server: Server,
    database: String,
    pub address: SocketAddr,
    pub client: reqwest::Client,
    operator: String,
    /// From the start of the process until it took connections.
    pub ready_in: Duration,
}

#[derive(Debug, Clone)]
pub struct Tenant {
    pub slug: String,
    /// A key that may do everything in it.
    pub key: String,
}

/// How a call ended.
#[derive(Debug)]
pub struct Called {
    pub status: u16,
    pub body: Value,
    pub task: Option<String>,
    pub took: Duration,
}

impl Node {
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// With more in its environment.
    pub async fn start_with(more: &[(&str, &str)]) -> Self {
        Self::open_with(Project::new(), database().await, more).await
    }

    /// On what another left.
    pub async fn open(project: Project, database: String) -> Self {
        Self::open_with(project, database, &[]).await
    }

    async fn open_with(project: Project, database: String, more: &[(&str, &str)]) -> Self {
        let began = Instant::now();
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--log-format", "json"];
        // All clients of the proof have one address.
        let many = ("PLEAT_LIMITS_STRANGER_REQUESTS_PER_MINUTE", "0");
        let own = [("PLEAT_MASTER_KEY", MASTER), ("DATABASE_URL", database.as_str()), many];
        let environment = [own.as_slice(), more].concat();
        let mut server = Server::spawn(project, &arguments, &environment);
        let address = server.until("line that says where it listens", listening).await;
        let ready_in = began.elapsed();
        let path = server.project.data_dir().join("operator.key");
        let operator = std::fs::read_to_string(path).expect("the operator's key").trim().to_owned();
        let client = reqwest::Client::builder().timeout(PATIENCE).build().expect("a client");
        Self { server, database, address: address.parse().expect("an address"), client, operator, ready_in }
    }

    pub fn data_dir(&self) -> PathBuf {
        self.server.project.data_dir()
    }

    pub fn process(&self) -> u32 {
        self.server.id()
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        self.server.project.log()
    }

    /// Runs, and has said nothing of a panic.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if !is_alive(self.process()) {
            faults.push("the server has ended".to_owned());
        }
        faults.extend(self.log().lines().filter(|line| line.contains("panicked")).map(str::to_owned));
        faults
    }

    pub async fn stop(self) -> (Project, String) {
        self.server.signal("TERM");
        let (project, status, _) = self.server.ended().await;
        assert!(status.success(), "{status}: {}", project.log());
        (project, self.database)
    }

    pub async fn restart(self) -> Self {
        let (project, database) = self.stop().await;
        Self::open(project, database).await
    }

    /// The control API: `path` is below `/api/v1`.
    pub async fn api(&self, method: Method, path: &str, key: &str, body: Option<Value>) -> (u16, Value) {
        let request = self.client.request(method, format!("http://{}/api/v1{path}", self.address)).bearer_auth(key);
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        read(request.send().await.expect("an answer")).await
    }

    pub async fn tenant(&self, slug: &str) -> Tenant {
        // What is proved here is not how much of it a plan would allow.
        self.tenant_with_plan(slug, "unlimited").await
    }

    pub async fn tenant_with_plan(&self, slug: &str, plan: &str) -> Tenant {
        let wish = json!({ "slug": slug, "plan": plan });
        let (status, body) = self.api(Method::POST, "/tenants", &self.operator, Some(wish)).await;
        assert_eq!(status, 201, "{body}");
        Tenant { slug: slug.to_owned(), key: body["adminKey"].as_str().expect("a key").to_owned() }
    }

    /// Another caller of the tenant: a key that may call, and its id.
    pub async fn caller(&self, tenant: &Tenant) -> (String, String) {
        let wish = json!({ "scopes": ["invoke"], "label": "caller" });
        let (status, key) =
            self.api(Method::POST, &format!("/tenants/{}/keys", tenant.slug), &tenant.key, Some(wish)).await;
        assert_eq!(status, 201, "{key}");
        let text = |field: &str| key[field].as_str().expect("text").to_owned();
        (text("key"), text("id"))
    }

    pub async fn try_deploy(&self, tenant: &Tenant, name: &str, file: &str, source: Vec<u8>) -> (u16, Value) {
        self.upload(tenant, &format!("fileName={file}&name={name}"), source).await
    }

    pub async fn deploy(&self, tenant: &Tenant, name: &str, file: &str, source: Vec<u8>) {
        let (status, body) = self.try_deploy(tenant, name, file, source).await;
        assert!(matches!(status, 200 | 201), "deploying {name}: {status} {body}");
    }

    /// With everything that it asks for.
    pub async fn deploy_granted(&self, tenant: &Tenant, name: &str, file: &str, source: Vec<u8>) {
        let (status, body) = self.upload(tenant, &format!("fileName={file}&name={name}&grant=all"), source).await;
        assert!(matches!(status, 200 | 201), "deploying {name}: {status} {body}");
    }

    async fn upload(&self, tenant: &Tenant, query: &str, source: Vec<u8>) -> (u16, Value) {
        let url = format!("http://{}/api/v1/tenants/{}/functions?{query}", self.address, tenant.slug);
        read(self.client.post(url).bearer_auth(&tenant.key).body(source).send().await.expect("an answer")).await
    }

    /// A call at the plain HTTP door.
    pub async fn call(&self, tenant: &Tenant, function: &str, input: &Value) -> Called {
        let began = Instant::now();
        let url = format!("http://{}/t/{}/{function}", self.address, tenant.slug);
        let response = self.client.post(url).bearer_auth(&tenant.key).json(input).send().await.expect("an answer");
        let task = task_of(&response);
        let (status, body) = read(response).await;
        Called { status, body, task, took: began.elapsed() }
    }

    /// A JSON-RPC call at the tenant's A2A door.
    pub async fn rpc(&self, tenant: &str, key: &str, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let url = format!("http://{}/t/{tenant}/_a2a/", self.address);
        read(self.client.post(url).bearer_auth(key).json(&body).send().await.expect("an answer")).await.1
    }
}

fn task_of(response: &Response) -> Option<String> {
    Some(response.headers().get("pleat-task-id")?.to_str().ok()?.to_owned())
}

fn listening(project: &Project) -> Option<String> {
    let log = project.log();
    let mut records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records.find_map(|record| Some(record.get("address")?.as_str()?.to_owned()))
}
