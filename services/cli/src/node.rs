//! One node of the platform, put together from its parts: what `dev` and `serve` have in common.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use pleat_engine::{Engine, EngineConfig, EngineError};
use pleat_gateway::server::Server;
use pleat_gateway::{App, GatewayConfig};
use pleat_runtime::{Runtime, forbid_dumps};
use pleat_store::embedded::{Database, EmbeddedConfig};
use pleat_store::{Store, master_key_check};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::compiler_sandbox;
use crate::config::Settings;
use crate::problem::Problem;
use crate::signals::Signals;

/// How long open connections may take to finish after the calls have.
const DRAIN: Duration = Duration::from_secs(2);

/// What listens.
pub struct Servers {
    pub main: Server,
    probes: Option<Server>,
}

pub struct Node {
    pub engine: Engine,
    pub database: Database,
}

impl Node {
    /// Database, store, runtime, engine: in this order, and nothing is served yet.
    pub async fn open(
        data_dir: &Path,
        settings: &Settings,
        config: EngineConfig,
        signals: &mut Signals,
        progress: &(dyn Fn(&str) + Send + Sync),
    ) -> anyhow::Result<Self> {
        // Before there is anything to count.
        settings.recorder();
        let database_url = settings.database.url.clone();
        let embedded = EmbeddedConfig { data_dir: data_dir.to_owned(), database_url, durable: true };
        let opened = signals.bear(Database::open(&embedded, progress)).await;
        let database =
            opened.context("stopped while the database was being started; the next start goes on with it")?;
        let database = database.context("the database could not be started")?;
        tracing::info!("{}", database.description());
        match Self::engine(data_dir, settings, config, &database).await {
            Ok(engine) => {
                engine.warm_up();
                if settings.runtime.recompile {
                    engine.renew_code(settings.keep_old_code());
                }
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
        settings: &Settings,
        config: EngineConfig,
        database: &Database,
    ) -> anyhow::Result<Engine> {
        // Before anything that writes: a node with another key changes nothing, its schema and its tasks included.
        let sealed = master_key_check(database.url()).await.context("the database could not be looked at")?;
        if sealed.is_some_and(|sealed| !config.master_key.opens_check(&sealed)) {
            return Err(refused(EngineError::WrongMasterKey));
        }
        let compiler = vec![std::env::current_exe()?.into_os_string(), OsString::from("__compile")];
        let runtime = settings.runtime(data_dir, compiler, config.master_key.code_key());
        let runtime = Runtime::start(runtime).context("the runtime could not be started")?;
        // Not earlier: the instance pool opens a file of /proc that is closed to a process which cannot be dumped.
        forbid_dumps().context("core dumps could not be turned off")?;
        compiler_sandbox::announce(&runtime, settings.runtime.sandbox).await?;
        let store = Store::open(settings.store(database.url())).await.context("the store could not be opened")?;
        let engine = Engine::new(store, runtime, settings.engine(config))
            .context("the settings for outbound requests cannot be used")?;
        // The first start keeps the check; of two at once, with two keys, one goes.
        if let Err(error) = engine.check_master_key().await {
            engine.shutdown().await;
            return Err(refused(error));
        }
        Ok(engine)
    }

    /// The server, and where one was asked for, the second address with the probes and the metrics.
    /// `local`: tokens may be made for the loopback address that this node listens on.
    pub async fn bind(&self, listen: SocketAddr, settings: &Settings, local: bool) -> anyhow::Result<Servers> {
        let gateway = GatewayConfig { loopback_audiences: local && listen.ip().is_loopback(), ..settings.gateway()? };
        let app = App::new(self.engine.clone(), gateway);
        let taken = |address: SocketAddr| move || format!("cannot listen on {address}; is another server there?");
        let probes = match settings.metrics_listen()? {
            Some(address) => Some(Server::bind_probes(address, app.clone()).await.with_context(taken(address))?),
            None => None,
        };
        let main = Server::bind(listen, app).await.with_context(taken(listen))?;
        if let Some(probes) = &probes {
            tracing::info!(metrics.address = %probes.address()?, "probes and metrics");
        }
        Ok(Servers { main, probes })
    }

    /// Serves until it is told to stop, then ends in order: connections, calls, writes, database. A server that
    /// could not be started, or was told to stop before it was (`None`), ends in the same order at once.
    pub async fn serve(self, started: anyhow::Result<Option<Servers>>, signals: &mut Signals) -> anyhow::Result<()> {
        let stop = CancellationToken::new();
        let served = match started {
            Ok(Some(Servers { main, probes })) => {
                let serving = tokio::spawn(main.serve(stop.clone(), DRAIN));
                // Probes are answered to the end, so that whoever asks is told that the node is stopping.
                let probing = probes
                    .map(|probes| AbortOnDropHandle::new(tokio::spawn(probes.serve(CancellationToken::new(), DRAIN))));
                signals.told_to_stop().await;
                tracing::info!("stopping");
                // Connections are taken meanwhile: a load balancer learns that this node is not ready, and who calls
                // it all the same is told to try again. Streams end when their tasks do.
                self.engine.drain().await;
                stop.cancel();
                let served = serving.await.map_err(anyhow::Error::from);
                self.engine.shutdown().await;
                drop(probing);
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
