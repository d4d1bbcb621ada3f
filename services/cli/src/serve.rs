//! `pleat serve`: one node of a real installation. Nothing is made up here: what it needs is given or refused.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use clap::Args;
use pleat_engine::{EngineConfig, MasterKey};

use crate::config::{Config, Settings};
use crate::node::{Node, Servers};
use crate::node_args::NodeArgs;
use crate::ownership::open_data_dir;
use crate::problem::Problem;
use crate::signals::Signals;

/// Where nothing else is said.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 8787);

const EXAMPLES: &str = "\
Examples:
  PLEAT_MASTER_KEY=$(openssl rand -hex 32) pleat serve --database-url postgres://pleat@db/pleat \\
      --base-domain agents.example.com --public-url https://agents.example.com

PLEAT_MASTER_KEY is required: it protects secrets and keys, and every node of an installation has the same one.
It is read from the environment only, so that it never shows in a list of processes. The operator's key, which
creates tenants, follows from it and is written to DATA_DIR/operator.key.";

/// Run one node of the platform on a Postgres of yours
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    #[command(flatten)]
    pub node: NodeArgs,
}

pub async fn run(config: &Config) -> anyhow::Result<()> {
    let settings = &config.settings;
    let mut signals = Signals::listen()?;
    let mut engine = EngineConfig::new(master_key()?);
    engine.egress = settings.egress(settings.listen(LISTEN)?)?;
    let data_dir = open_data_dir(Path::new(&settings.server.data_dir))?;
    let progress = |line: &str| tracing::info!("{line}");
    let node = Node::open(&data_dir, settings, engine, &mut signals, &progress).await?;
    let started = tokio::select! {
        started = start(&node, settings, &data_dir) => started.map(Some),
        () = signals.told_to_stop() => Ok(None),
    };
    node.serve(started, &mut signals).await
}

async fn start(node: &Node, settings: &Settings, data_dir: &Path) -> anyhow::Result<Servers> {
    match node.engine.first_operator_key().await? {
        Some(operator) => keep_operator_key(data_dir, &operator.text)?,
        None => tracing::info!("the first operator key was revoked; `pleat operator-keys recover` makes another"),
    }
    let servers = node.bind(settings.listen(LISTEN)?, settings, false).await?;
    tracing::info!(address = %servers.main.address()?, "listening");
    Ok(servers)
}

fn keep_operator_key(data_dir: &Path, key: &str) -> anyhow::Result<()> {
    let path = data_dir.join("operator.key");
    let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
    // One that was there already keeps its mode otherwise.
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    writeln!(file, "{key}")?;
    tracing::info!("the operator's key is in {}", path.display());
    Ok(())
}

pub fn master_key() -> anyhow::Result<MasterKey> {
    let refused = |what: &str| {
        Problem::usage(
            what,
            "make one with `openssl rand -hex 32` and keep it: without it, stored keys and secrets are lost",
        )
    };
    match std::env::var("PLEAT_MASTER_KEY") {
        Ok(text) if !text.is_empty() => {
            MasterKey::parse(&text).map_err(|_| refused("PLEAT_MASTER_KEY is not 64 hex digits").into())
        }
        _ => Err(refused("PLEAT_MASTER_KEY is not set").into()),
    }
}
