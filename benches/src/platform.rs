//! The platform that is measured: put together as `pleat serve` does it, on a database of its own that syncs to disk.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use pleat_domain::{Plans, Scope, Scopes, Tenant, TenantSlug};
use pleat_engine::{Engine, EngineConfig, MasterKey};
use pleat_gateway::server::Server;
use pleat_gateway::{App, GatewayConfig, StrangerLimits};
use pleat_runtime::{CodeKey, Runtime, RuntimeConfig};
use pleat_store::embedded::{Database, EmbeddedConfig};
use pleat_store::{Store, StoreConfig};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::http::{Connection, Request};
use crate::table::say;

const TENANT: &str = "bench";

pub struct Platform {
    pub runtime: Runtime,
    pub tenant: Arc<Tenant>,
    pub address: SocketAddr,
    engine: Engine,
    database: Database,
    invoke_key: String,
    deploy_key: String,
    stop: CancellationToken,
    serving: JoinHandle<()>,
    directory: TempDir,
}

impl Platform {
    pub async fn start(data_dir: Option<&Path>) -> anyhow::Result<Self> {
        let directory = temporary(data_dir)?;
        let config = EmbeddedConfig { data_dir: directory.path().to_owned(), database_url: None, durable: true };
        let mut database = Database::open(&config, &|line: &str| say(line)).await?;
        // Also when this process is interrupted.
        database.make_temporary()?;
        say(database.description());
        let runtime = Runtime::start(runtime_config(directory.path())?)?;
        runtime.warm_up().await?;
        let store = Store::open(StoreConfig::new(database.url())).await?;
        let mut config = EngineConfig::new(MasterKey::from_bytes([7; 32]));
        config.plans = Plans::generous();
        let engine = Engine::new(store, runtime.clone(), config)?;
        // Cards are asked for without a key, from one address.
        let strangers = StrangerLimits { per_minute: 0, ..StrangerLimits::default() };
        let gateway = GatewayConfig { strangers, ..GatewayConfig::default() };
        let server = Server::bind(([127, 0, 0, 1], 0).into(), App::new(engine.clone(), gateway)).await?;
        let address = server.address()?;
        let stop = CancellationToken::new();
        let serving = tokio::spawn(server.serve(stop.clone(), Duration::from_secs(1)));
        let tenant = engine.bootstrap_tenant(&TenantSlug::parse(TENANT)?).await?;
        let invoke = engine.bootstrap_key(Some(&tenant), Scopes::of([Scope::Invoke]), "invoke").await?;
        let deploy = engine.bootstrap_key(Some(&tenant), Scopes::of([Scope::Deploy]), "deploy").await?;
        let (invoke_key, deploy_key) = (invoke.text, deploy.text);
        Ok(Self { runtime, tenant, address, engine, database, invoke_key, deploy_key, stop, serving, directory })
    }

    pub async fn stop(self) -> anyhow::Result<()> {
        self.stop.cancel();
        self.engine.shutdown().await;
        self.serving.await?;
        self.database.stop().await.context("the database did not stop")?;
        Ok(self.directory.close()?)
    }

    pub fn database_url(&self) -> &str {
        self.database.url()
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The database's first process.
    pub fn postgres(&self) -> anyhow::Result<u32> {
        let own = self.directory.path().join("postgres");
        let home = std::fs::read_to_string(own.join("location")).map_or(own, |place| place.trim().into());
        let lock = std::fs::read_to_string(home.join("data/postmaster.pid"))?;
        lock.lines().next().and_then(|line| line.trim().parse().ok()).context("no process in `postmaster.pid`")
    }

    /// For files that end with the measurement.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The bytes of a call of a function, with a key.
    pub fn call(&self, function: &str, input: &str) -> Vec<u8> {
        let path = format!("/t/{TENANT}/{function}");
        let (key, content_type) = (Some(self.invoke_key.as_str()), Some("application/json"));
        Request { method: "POST", path: &path, key, content_type, body: input.as_bytes() }.bytes(self.address)
    }

    /// The bytes of a request to one of the tenant's doors, with a key and further headers.
    pub fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
        let path = format!("/t/{TENANT}{path}");
        let (key, content_type) = (Some(self.invoke_key.as_str()), Some("application/json"));
        let plain = Request { method: "POST", path: &path, key, content_type, body: body.as_bytes() };
        plain.with_headers(headers, self.address)
    }

    /// The bytes of a JSON-RPC request at the agent's door.
    pub fn rpc(&self, body: &str) -> Vec<u8> {
        self.post("/_a2a/", &[], body)
    }

    pub fn card(&self) -> Vec<u8> {
        let path = format!("/t/{TENANT}/.well-known/agent-card.json");
        Request { method: "GET", path: &path, key: None, content_type: None, body: &[] }.bytes(self.address)
    }

    /// Uploads a function under a name and returns when it is deployed.
    pub async fn deploy(
        &self,
        connection: &mut Connection,
        name: &str,
        file_name: &str,
        source: &[u8],
    ) -> anyhow::Result<()> {
        let path = format!("/api/v1/tenants/{TENANT}/functions?fileName={file_name}&name={name}");
        let (key, content_type) = (Some(self.deploy_key.as_str()), Some("application/octet-stream"));
        let request = Request { method: "POST", path: &path, key, content_type, body: source }.bytes(self.address);
        let answer = connection.exchange(&request).await?;
        anyhow::ensure!(
            matches!(answer.status, 200 | 201),
            "deploying `{file_name}`: {} {}",
            answer.status,
            answer.text()
        );
        Ok(())
    }
}

impl Platform {
    /// Deploys a pipeline and activates it.
    pub async fn define(&self, connection: &mut Connection, definition: &str) -> anyhow::Result<()> {
        let path = format!("/api/v1/tenants/{TENANT}/pipelines?activate=true");
        let (key, content_type) = (Some(self.deploy_key.as_str()), Some("application/yaml"));
        let body = definition.as_bytes();
        let request = Request { method: "POST", path: &path, key, content_type, body }.bytes(self.address);
        let answer = connection.exchange(&request).await?;
        anyhow::ensure!(answer.status == 201, "deploying a pipeline: {} {}", answer.status, answer.text());
        Ok(())
    }
}

/// The compiler is this very program.
pub fn runtime_config(data_dir: &Path) -> anyhow::Result<RuntimeConfig> {
    let compiler = vec![std::env::current_exe()?.into_os_string(), OsString::from("__compile")];
    Ok(RuntimeConfig::new(data_dir, compiler, CodeKey::from_bytes([0; 32])))
}

/// The smallest Rust function: gives back its input.
pub fn echo() -> anyhow::Result<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/echo.wasm");
    std::fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))
}

/// Passable, because the database may have to run as another user.
pub fn temporary(parent: Option<&Path>) -> anyhow::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("pleat-bench-").permissions(std::fs::Permissions::from_mode(0o755));
    Ok(match parent {
        Some(parent) => builder.tempdir_in(parent)?,
        None => builder.tempdir()?,
    })
}
