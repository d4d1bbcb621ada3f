//! A whole platform for one test: its own database, a real socket, the shared runtime.

use std::ffi::OsString;
use std::sync::OnceLock;
use std::time::Duration;

use pleat_domain::{Scope, Scopes, TenantSlug};
use pleat_engine::{Engine, EngineConfig, MasterKey};
use pleat_gateway::server::Server;
use pleat_gateway::{App, GatewayConfig, Metrics};
use pleat_runtime::{CodeKey, CompileLimits, PoolSize, Runtime, RuntimeConfig};
use pleat_store::{Store, StoreConfig};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Stream, database, fixture};

/// One engine per process: about thirty would fill its address space. What is compiled once is compiled for all tests.
pub fn runtime() -> Runtime {
    static RUNTIME: OnceLock<(Runtime, tempfile::TempDir)> = OnceLock::new();
    let (runtime, _) = RUNTIME.get_or_init(|| {
        let directory = tempfile::tempdir().expect("a directory for artefacts");
        (new_runtime(&directory, 64), directory)
    });
    runtime.clone()
}

const DEPLOY_PATIENCE: Duration = Duration::from_secs(240);

fn new_runtime(directory: &tempfile::TempDir, instances: u32) -> Runtime {
    Runtime::start(runtime_config(directory, instances)).expect("the runtime starts")
}

fn runtime_config(directory: &tempfile::TempDir, instances: u32) -> RuntimeConfig {
    let compiler = vec![OsString::from(super::pleat()), OsString::from("__compile")];
    let mut config = RuntimeConfig::new(directory.path(), compiler, CodeKey::from_bytes([0; 32]));
    // The same few functions are deployed for the tenant of every test.
    config.share_code = true;
    config.pool = PoolSize { instances };
    // Other tests compete for the machine; the limit on CPU time stays.
    config.compile.wall = DEPLOY_PATIENCE;
    config.compile.wait = DEPLOY_PATIENCE;
    config
}

/// A server with the tenant `acme`, whose keys are here by name.
pub struct TestServer {
    pub store: Store,
    pub engine: Engine,
    pub client: reqwest::Client,
    /// The control host.
    pub url: String,
    pub operator: String,
    pub admin: String,
    pub deploy: String,
    pub invoke: String,
    pub read: String,
    _stop: tokio_util::sync::DropGuard,
}

impl TestServer {
    pub async fn start() -> Self {
        Self::start_with(|_| {}, |_| {}).await
    }

    pub async fn start_with(
        engine_config: impl FnOnce(&mut EngineConfig),
        gateway_config: impl FnOnce(&mut GatewayConfig),
    ) -> Self {
        Self::start_on(StoreConfig::new(database().await), engine_config, gateway_config).await
    }

    /// On a database that the test has: a second node, or one whose database the test ends.
    pub async fn start_on(
        store_config: StoreConfig,
        engine_config: impl FnOnce(&mut EngineConfig),
        gateway_config: impl FnOnce(&mut GatewayConfig),
    ) -> Self {
        Self::put_together(store_config, runtime(), engine_config, gateway_config).await
    }

    /// On a runtime of its own, for a test that counts what runs in it. Few tests can: see `runtime`.
    pub async fn start_alone() -> (Self, Runtime, tempfile::TempDir) {
        Self::start_alone_with(8, |_| {}).await
    }

    pub async fn start_alone_with(
        instances: u32,
        engine_config: impl FnOnce(&mut EngineConfig),
    ) -> (Self, Runtime, tempfile::TempDir) {
        let directory = tempfile::tempdir().expect("a directory for artefacts");
        let runtime = new_runtime(&directory, instances);
        let store = StoreConfig::new(database().await);
        (Self::put_together(store, runtime.clone(), engine_config, |_| {}).await, runtime, directory)
    }

    /// On a runtime of its own that may take long to compile: this build of the compiler is not optimised, and needs
    /// three times what the one that is shipped does.
    pub async fn start_patient() -> (Self, tempfile::TempDir) {
        let (server, _, directory) = Self::start_compiling(|compile| compile.cpu = DEPLOY_PATIENCE, |_| {}).await;
        (server, directory)
    }

    /// On a runtime of its own that compiles within these limits.
    pub async fn start_compiling(
        limits: impl FnOnce(&mut CompileLimits),
        engine_config: impl FnOnce(&mut EngineConfig),
    ) -> (Self, Runtime, tempfile::TempDir) {
        Self::start_on_runtime(|config| limits(&mut config.compile), engine_config).await
    }

    /// On a runtime of its own with these settings.
    pub async fn start_on_runtime(
        settings: impl FnOnce(&mut RuntimeConfig),
        engine_config: impl FnOnce(&mut EngineConfig),
    ) -> (Self, Runtime, tempfile::TempDir) {
        let directory = tempfile::tempdir().expect("a directory for artefacts");
        let mut config = runtime_config(&directory, 8);
        settings(&mut config);
        let runtime = Runtime::start(config).expect("the runtime starts");
        let store = StoreConfig::new(database().await);
        (Self::put_together(store, runtime.clone(), engine_config, |_| {}).await, runtime, directory)
    }

    async fn put_together(
        store_config: StoreConfig,
        runtime: Runtime,
        engine_config: impl FnOnce(&mut EngineConfig),
        gateway_config: impl FnOnce(&mut GatewayConfig),
    ) -> Self {
        let store = Store::open(store_config).await.expect("the store opens");
        let mut config = EngineConfig::new(MasterKey::from_bytes([7; 32]));
        engine_config(&mut config);
        let engine = Engine::new(store.clone(), runtime, config).expect("the settings are good");
        let mut gateway =
            GatewayConfig { metrics: Metrics::install(), loopback_audiences: true, ..GatewayConfig::default() };
        gateway_config(&mut gateway);
        let app = App::new(engine.clone(), gateway);
        let server = Server::bind(([127, 0, 0, 1], 0).into(), app).await.expect("a free port");
        let url = format!("http://{}", server.address().unwrap());
        let stop = CancellationToken::new();
        tokio::spawn(server.serve(stop.clone(), Duration::from_millis(100)));
        let tenant = engine.bootstrap_tenant(&TenantSlug::parse("acme").unwrap()).await.unwrap();
        let key = |scopes: &'static [Scope], label: &'static str| {
            let (engine, tenant) = (engine.clone(), tenant.clone());
            async move {
                let home = (!scopes.contains(&Scope::Operator)).then_some(&*tenant);
                engine.bootstrap_key(home, Scopes::of(scopes.iter().copied()), label).await.unwrap().text
            }
        };
        Self {
            operator: key(&[Scope::Operator], "operator").await,
            admin: key(&[Scope::Admin, Scope::Deploy, Scope::Invoke, Scope::Read], "admin").await,
            deploy: key(&[Scope::Deploy], "deploy").await,
            invoke: key(&[Scope::Invoke], "invoke").await,
            read: key(&[Scope::Read], "read").await,
            store,
            engine,
            client: reqwest::Client::builder().timeout(Duration::from_secs(60)).build().unwrap(),
            url,
            _stop: stop.drop_guard(),
        }
    }

    /// The tenant's address, without a trailing slash.
    pub fn tenant_url(&self) -> String {
        format!("{}/t/acme", self.url)
    }

    /// Another tenant with a key that may do everything in it.
    pub async fn other_tenant(&self, slug: &str) -> String {
        let (status, body) = self.api(Method::POST, "/tenants", &self.operator, Some(json!({ "slug": slug }))).await;
        assert_eq!(status, 201, "{body}");
        body["adminKey"].as_str().unwrap().to_owned()
    }

    /// The control API: `path` is below `/api/v1`, an empty key is none.
    pub async fn api(&self, method: Method, path: &str, key: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = self.client.request(method, format!("{}/api/v1{path}", self.url));
        if !key.is_empty() {
            request = request.bearer_auth(key);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        read(request.send().await.unwrap()).await
    }

    /// Deploys to `acme`; `query` is appended (`&name=x`).
    pub async fn try_deploy(&self, file_name: &str, source: impl Into<Vec<u8>>, query: &str) -> (u16, Value) {
        let url = format!("{}/api/v1/tenants/acme/functions?fileName={file_name}{query}", self.url);
        let request = self.client.post(url).bearer_auth(&self.deploy).timeout(DEPLOY_PATIENCE).body(source.into());
        read(request.send().await.unwrap()).await
    }

    pub async fn deploy(&self, file_name: &str, source: impl Into<Vec<u8>>, query: &str) -> Value {
        let (status, body) = self.try_deploy(file_name, source, query).await;
        assert!(status == 201 || status == 200, "deploying {file_name}: {status} {body}");
        body
    }

    /// The guest whose input selects what it does (tests/fixtures/probe), public under the name `probe`.
    pub async fn deploy_probe(&self) {
        self.deploy("probe.wasm", fixture("probe.wasm"), "&name=probe&visibility=public").await;
    }

    /// The smallest guest, public under the name `echo`: gives back its input, byte for byte.
    pub async fn deploy_echo(&self) {
        self.deploy("echo.wasm", fixture("echo.wasm"), "&name=echo&visibility=public").await;
    }

    /// A request below the tenant's address, exactly as given.
    pub fn post(&self, path: &str, content_type: &str, body: impl Into<reqwest::Body>) -> reqwest::RequestBuilder {
        let request = self.client.post(format!("{}{path}", self.tenant_url()));
        request.header("content-type", content_type).body(body)
    }

    /// A task as its tenant sees it.
    pub async fn task(&self, id: &str) -> Value {
        let (status, task) = self.api(Method::GET, &format!("/tenants/acme/tasks/{id}"), &self.admin, None).await;
        assert_eq!(status, 200, "{task}");
        task
    }

    /// Waits until the tenant has a task in this state; gives the newest such.
    pub async fn task_in(&self, state: &str) -> Value {
        let patience = std::time::Instant::now() + Duration::from_secs(20);
        loop {
            assert!(std::time::Instant::now() < patience, "no task became {state}");
            let path = format!("/tenants/acme/tasks?state={state}&limit=1");
            let (status, mut page) = self.api(Method::GET, &path, &self.admin, None).await;
            assert_eq!(status, 200, "{page}");
            if let Some(task) = page["tasks"].get_mut(0) {
                return task.take();
            }
        }
    }

    /// A JSON-RPC call at the tenant's A2A door; the answer's status and body.
    pub async fn rpc_as(&self, key: &str, method: &str, params: Value) -> (u16, Value) {
        let response = self.rpc_response(key, method, params).await;
        read(response).await
    }

    /// The same as nobody, and only the body.
    pub async fn rpc(&self, method: &str, params: Value) -> Value {
        self.rpc_as("", method, params).await.1
    }

    pub async fn rpc_response(&self, key: &str, method: &str, params: Value) -> Response {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut request = self.client.post(format!("{}/_a2a/", self.tenant_url())).json(&body);
        if !key.is_empty() {
            request = request.bearer_auth(key);
        }
        request.send().await.unwrap()
    }

    /// A streaming JSON-RPC call.
    pub async fn rpc_stream(&self, key: &str, method: &str, params: Value, last_event_id: Option<u32>) -> Stream {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut request = self.client.post(format!("{}/_a2a/", self.tenant_url())).json(&body);
        if !key.is_empty() {
            request = request.bearer_auth(key);
        }
        if let Some(seq) = last_event_id {
            request = request.header("last-event-id", seq.to_string());
        }
        Stream::of(request.send().await.unwrap())
    }

    /// A plain HTTP call of a function; an empty key is none.
    pub async fn http(&self, key: &str, function: &str, input: Value) -> (u16, Value) {
        let mut request = self.client.post(format!("{}/{function}", self.tenant_url())).json(&input);
        if !key.is_empty() {
            request = request.bearer_auth(key);
        }
        read(request.send().await.unwrap()).await
    }
}

/// Status and body; a body that is no JSON is a string.
pub async fn read(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}
