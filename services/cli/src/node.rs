//! One node of the platform, put together from its parts: what `dev` and `serve` have in common.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use pleat_domain::limits;
use pleat_egress::{AllowRule, EgressConfig, HostPattern};
use pleat_engine::{Engine, EngineConfig, EngineError};
use pleat_gateway::server::Server;
use pleat_gateway::{App, GatewayConfig};
use pleat_runtime::{Runtime, RuntimeConfig};
use pleat_store::embedded::{Database, EmbeddedConfig};
use pleat_store::{Store, StoreConfig};
use tokio_util::sync::CancellationToken;

use crate::problem::Problem;
use crate::signals::Signals;

/// How long open connections may take to finish at the end.
const DRAIN: Duration = Duration::from_secs(2);

/// What both kinds of node can be told.
#[derive(Args)]
pub struct NodeArgs {
    /// The database; without it a private one is kept in the data directory
    #[arg(long, env = "DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,
    /// How long tasks, their events and logs are kept, in hours
    #[arg(long, env = "PLEAT_RETENTION_HOURS", value_name = "HOURS", default_value_t = 24,
        value_parser = clap::value_parser!(u64).range(1..=24 * 365))]
    pub retention_hours: u64,
    /// The largest request body that is taken, in MiB
    #[arg(long, env = "PLEAT_REQUEST_BODY_MIB", value_name = "MIB", default_value_t = 4,
        value_parser = clap::value_parser!(u64).range(1..=32))]
    pub request_body_mib: u64,
    /// How long running calls may take to finish when the node is told to stop, in seconds
    #[arg(long, env = "PLEAT_DRAIN_SECONDS", value_name = "SECONDS", default_value_t = 5,
        value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub drain_seconds: u64,
    /// How long a node is taken for alive after its last sign of life, in milliseconds; the same on every node
    #[arg(long, env = "PLEAT_LEASE_MS", value_name = "MS", default_value_t = 10_000, hide = true,
        value_parser = clap::value_parser!(u64).range(500..=600_000))]
    pub lease_ms: u64,
    /// A further name of the control host; may be repeated
    #[arg(long = "host", env = "PLEAT_HOSTS", value_name = "NAME", value_delimiter = ',')]
    pub hosts: Vec<String>,
    /// A private destination that functions may reach all the same, such as `git.internal:3000`, `10.1.0.0/16` or
    /// `127.0.0.1:*`; may be repeated
    #[arg(long, env = "PLEAT_EGRESS_ALLOW", value_name = "RULE", value_delimiter = ',')]
    pub egress_allow: Vec<AllowRule>,
    /// A host that functions may reach, and no other; may be repeated [default: any public one]
    #[arg(long, env = "PLEAT_EGRESS_ONLY", value_name = "HOST", value_delimiter = ',')]
    pub egress_only: Vec<HostPattern>,
    /// A PEM file of certificates that outbound requests trust beside the public ones; may be repeated
    #[arg(long, env = "PLEAT_EGRESS_ROOTS", value_name = "FILE", value_delimiter = ',')]
    pub egress_roots: Vec<PathBuf>,
}

impl NodeArgs {
    pub fn gateway(&self) -> GatewayConfig {
        GatewayConfig {
            hosts: self.hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            request_body: usize::try_from(self.request_body_mib).map_or(limits::REQUEST_BODY, |mib| mib * limits::MIB),
            ..GatewayConfig::default()
        }
    }

    /// The way out, closed to the node's own address and names.
    pub fn egress(&self, listen: SocketAddr, base_domain: &str) -> anyhow::Result<EgressConfig> {
        let mut own_hosts = self.hosts.clone();
        let port = listen.port();
        if port != 0 {
            own_hosts.extend([format!("127.0.0.1:{port}"), format!("[::1]:{port}"), format!("localhost:{port}")]);
        }
        // Other services of this machine go by the name `localhost` too.
        if base_domain != "localhost" {
            own_hosts.push(base_domain.to_owned());
        }
        let read = |path: &PathBuf| {
            std::fs::read_to_string(path)
                .with_context(|| format!("cannot read the certificates in `{}`", path.display()))
        };
        Ok(EgressConfig {
            allow: self.egress_allow.clone(),
            only: self.egress_only.clone(),
            extra_roots: self.egress_roots.iter().map(read).collect::<anyhow::Result<_>>()?,
            own_hosts,
            ..EgressConfig::default()
        })
    }
}

pub struct Node {
    pub engine: Engine,
    pub database: Database,
}

impl Node {
    /// Database, store, runtime, engine: in this order, and nothing is served yet.
    pub async fn open(
        data_dir: &Path,
        args: &NodeArgs,
        config: EngineConfig,
        signals: &mut Signals,
        progress: &(dyn Fn(&str) + Send + Sync),
    ) -> anyhow::Result<Self> {
        let embedded =
            EmbeddedConfig { data_dir: data_dir.to_owned(), database_url: args.database_url.clone(), durable: true };
        let opened = signals.bear(Database::open(&embedded, progress)).await;
        let database =
            opened.context("stopped while the database was being started; the next start goes on with it")?;
        let database = database.context("the database could not be started")?;
        tracing::info!("{}", database.description());
        match Self::engine(data_dir, args, config, &database).await {
            Ok(engine) => {
                engine.warm_up();
                Ok(Self { engine, database })
            }
            Err(error) => {
                // Nothing is left running by a start that failed.
                database.stop().await.context("the database did not stop cleanly")?;
                Err(error)
            }
        }
    }

    async fn engine(
        data_dir: &Path,
        args: &NodeArgs,
        mut config: EngineConfig,
        database: &Database,
    ) -> anyhow::Result<Engine> {
        config.drain = Duration::from_secs(args.drain_seconds);
        let compiler = vec![std::env::current_exe()?.into_os_string(), OsString::from("__compile")];
        let runtime =
            Runtime::start(RuntimeConfig::new(data_dir, compiler)).context("the runtime could not be started")?;
        let mut settings = StoreConfig::new(database.url());
        settings.retention = Duration::from_secs(args.retention_hours * 60 * 60);
        settings.lease = Duration::from_millis(args.lease_ms);
        let store = Store::open(settings).await.context("the store could not be opened")?;
        let engine =
            Engine::new(store, runtime, config).context("the settings for outbound requests cannot be used")?;
        if let Err(error) = engine.check_master_key().await {
            engine.shutdown().await;
            return Err(refused(error));
        }
        Ok(engine)
    }

    pub async fn bind(&self, listen: SocketAddr, gateway: GatewayConfig) -> anyhow::Result<Server> {
        let app = App::new(self.engine.clone(), gateway);
        Server::bind(listen, app).await.with_context(|| format!("cannot listen on {listen}; is another server there?"))
    }

    /// Serves until it is told to stop, then ends in order: connections, calls, writes, database. A server that
    /// could not be started, or was told to stop before it was (`None`), ends in the same order at once.
    pub async fn serve(self, started: anyhow::Result<Option<Server>>, signals: &mut Signals) -> anyhow::Result<()> {
        let stop = CancellationToken::new();
        let served = match started {
            Ok(Some(server)) => {
                let serving = tokio::spawn(server.serve(stop.clone(), DRAIN));
                signals.told_to_stop().await;
                tracing::info!("stopping");
                // Connections are taken meanwhile: a load balancer learns that this node is not ready, and who calls
                // it all the same is told to try again. Streams end when their tasks do.
                self.engine.drain().await;
                stop.cancel();
                let served = serving.await.map_err(anyhow::Error::from);
                self.engine.shutdown().await;
                served
            }
            other => {
                self.engine.shutdown().await;
                other.map(drop)
            }
        };
        self.database.stop().await.context("the database did not stop cleanly")?;
        served
    }
}

fn refused(error: EngineError) -> anyhow::Error {
    match error {
        EngineError::WrongMasterKey => {
            let hint = "set PLEAT_MASTER_KEY to the key this installation was first started with (`pleat dev` keeps it \
                        in `master.key` of the data directory)";
            Problem::usage(EngineError::WrongMasterKey.to_string(), hint).into()
        }
        error => anyhow::Error::from(error).context("the master key could not be checked"),
    }
}
