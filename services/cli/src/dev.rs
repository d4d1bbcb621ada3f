//! `pleat dev`: the whole platform on this machine, with an embedded database and a demo tenant.

mod demo;
mod trust;
mod watch;

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use pleat_domain::{Plans, Scope, Scopes, TenantSlug};
use pleat_engine::{Engine, EngineConfig, EngineError, MasterKey};
use tokio_util::task::AbortOnDropHandle;

use self::watch::Watch;
use crate::config::{Config, Settings};
use crate::dev_file::DevFile;
use crate::node::{Node, Servers};
use crate::node_args::NodeArgs;
use crate::output::Output;
use crate::ownership::open_data_dir;
use crate::problem::Problem;
use crate::signals::Signals;

const EXAMPLES: &str = "\
Examples:
  pleat dev                                                 deploys the functions of this directory when saved
  pleat dev --watch functions                               of another one
  pleat dev --listen 127.0.0.1:0 --data-dir ~/.pleat-dev    any free port; ready when DIR/dev.json is there";

/// This machine only: what runs here has no master key of its operator's.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8787);

const TENANT: &str = "demo";

/// Start the whole platform here: embedded database, demo tenant, examples
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct DevArgs {
    /// Deploy the functions of this directory when they are saved [default: the working directory]
    #[arg(long, value_name = "DIR", conflicts_with = "no_watch")]
    watch: Option<PathBuf>,
    /// Deploy only what is deployed by hand
    #[arg(long)]
    no_watch: bool,
    /// Run the build scripts and tools of this directory, and follow its pleat.toml; remembered for the directory
    #[arg(long, env = "PLEAT_TRUST", hide_env_values = true)]
    trust: bool,
    #[command(flatten)]
    pub node: NodeArgs,
}

impl DevArgs {
    fn watched(&self) -> anyhow::Result<Option<PathBuf>> {
        if self.no_watch {
            return Ok(None);
        }
        let directory = self.watch.clone().unwrap_or_else(|| PathBuf::from("."));
        let found = directory.canonicalize();
        let found = found.map_err(|source| Problem::Unreadable { path: directory, source })?;
        Ok(Some(found))
    }
}

pub async fn run(args: &DevArgs, config: &Config, output: &Output) -> anyhow::Result<()> {
    let mut settings = config.settings.clone();
    let default = Settings::default().limits.stranger_requests_per_minute;
    // All clients of one's own machine have one address.
    if settings.limits.stranger_requests_per_minute == default {
        settings.limits.stranger_requests_per_minute = 0;
    }
    let settings = &settings;
    let watched = args.watched()?;
    let configuration = config.file.as_deref().filter(|_| args.node.config.is_none());
    trust::check(watched.as_deref(), configuration, args.trust, output)?;
    let mut signals = Signals::listen()?;
    let data_dir = open_data_dir(Path::new(&settings.server.data_dir))?;
    let _lock = lock(&data_dir)?;
    DevFile::remove(&data_dir)?;
    let slug = TenantSlug::parse(TENANT)?;
    let mut engine = EngineConfig::new(master_key(&data_dir)?);
    engine.public_by_default = Some(slug.clone());
    engine.egress = settings.egress(settings.listen(LISTEN)?)?;
    // Nobody is held back on a machine of one's own, unless that is what is tried.
    if settings.plans == Plans::default() {
        engine.plans = Plans::generous();
    }
    let progress = |line: &str| tracing::info!("{line}");
    let node = Node::open(&data_dir, settings, engine, &mut signals, &progress).await?;
    let started = tokio::select! {
        started = start(&node, settings, &slug, &data_dir) => started.map(Some),
        () = signals.told_to_stop() => Ok(None),
    };
    let started = started.map(Option::unzip);
    let (started, _watch) = match started {
        Ok((servers, file)) => (Ok(servers), watch(watched, file.as_ref(), output)),
        Err(error) => (Err(error), None),
    };
    let served = node.serve(started, &mut signals).await;
    DevFile::remove(&data_dir)?;
    served
}

/// The functions of the directory, from when the server answers to when it ends.
fn watch(directory: Option<PathBuf>, file: Option<&DevFile>, output: &Output) -> Option<AbortOnDropHandle<()>> {
    match Watch::start(directory?, file?, *output) {
        Ok(watch) => Some(watch),
        Err(error) => {
            tracing::warn!(error = error.to_string(), "the directory is not watched");
            None
        }
    }
}

async fn start(
    node: &Node,
    settings: &Settings,
    slug: &TenantSlug,
    data_dir: &Path,
) -> anyhow::Result<(Servers, DevFile)> {
    let servers = node.bind(settings.listen(LISTEN)?, settings, true).await?;
    let file = furnish(&node.engine, slug, servers.main.address()?).await?;
    file.write(data_dir)?;
    if let Err(error) = greet(&file, data_dir) {
        // Whoever reads `dev.json` need not read the greeting.
        tracing::debug!(error = error.to_string(), "nobody reads the greeting");
    }
    Ok((servers, file))
}

/// Two servers on one data directory would fight over its database.
fn lock(data_dir: &Path) -> anyhow::Result<std::fs::File> {
    let file = std::fs::File::create(data_dir.join("dev.lock"))?;
    if file.try_lock().is_err() {
        let what = format!("another `pleat dev` is using `{}`", data_dir.display());
        return Err(Problem::usage(&what, "stop it, or choose another directory with `--data-dir`").into());
    }
    Ok(file)
}

/// Made once, kept with the data, readable by nobody else.
fn master_key(data_dir: &Path) -> anyhow::Result<MasterKey> {
    let path = data_dir.join("master.key");
    match std::fs::read_to_string(&path) {
        Ok(text) => return MasterKey::parse(&text).with_context(|| format!("`{}` is damaged", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    }
    let mut bytes = [0; 32];
    rand::TryRng::try_fill_bytes(&mut rand::rngs::SysRng, &mut bytes)?;
    let key = MasterKey::from_bytes(bytes);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    writeln!(file, "{}", key.to_hex())?;
    file.sync_all()?;
    Ok(key)
}

/// The demo tenant, its keys and, the first time, what it begins with.
async fn furnish(engine: &Engine, slug: &TenantSlug, address: SocketAddr) -> anyhow::Result<DevFile> {
    let tenant = match engine.bootstrap_tenant(slug).await {
        Err(EngineError::Exists { .. }) => {
            let what =
                format!("the tenant `{slug}` of this data directory was deleted, and names are not given out twice");
            return Err(Problem::usage(what, "start with another directory: `--data-dir`").into());
        }
        tenant => tenant?,
    };
    demo::deploy_functions(engine, &tenant).await?;
    let operator = engine.bootstrap_key(None, Scopes::of([Scope::Operator]), "operator").await?;
    let all = [Scope::Admin, Scope::Deploy, Scope::Invoke, Scope::Read];
    let admin = engine.bootstrap_key(Some(&tenant), Scopes::of(all), "dev admin").await?;
    let deploy = Scopes::of([Scope::Deploy, Scope::Invoke, Scope::Read]);
    let deploy = engine.bootstrap_key(Some(&tenant), deploy, "dev deploy").await?;
    let invoke = engine.bootstrap_key(Some(&tenant), Scopes::of([Scope::Invoke]), "dev invoke").await?;
    demo::compose(engine, &tenant, &deploy.text).await?;
    let url = format!("http://{address}");
    Ok(DevFile {
        pid: std::process::id(),
        tenant_url: format!("{url}/t/{slug}"),
        url,
        tenant: slug.to_string(),
        operator_key: operator.text,
        admin_key: admin.text,
        deploy_key: deploy.text,
        invoke_key: invoke.text,
    })
}

fn greet(file: &DevFile, data_dir: &Path) -> std::io::Result<()> {
    let DevFile { url, tenant_url, .. } = file;
    let mut out = std::io::stdout().lock();
    writeln!(out, "Pleat is ready.\n")?;
    writeln!(out, "  agent card   {tenant_url}/.well-known/agent-card.json")?;
    writeln!(out, "  A2A          {tenant_url}/_a2a/")?;
    writeln!(out, "  MCP          {tenant_url}/mcp")?;
    writeln!(out, "  HTTP         {tenant_url}/hello")?;
    writeln!(out, "  control API  {url}/api/v1 (described at {url}/api/v1/openapi.json)")?;
    writeln!(out, "  data         {}\n", data_dir.display())?;
    writeln!(out, "Try it:\n")?;
    writeln!(out, "  curl -s {tenant_url}/_a2a/ -H 'Content-Type: application/json' \\")?;
    writeln!(
        out,
        "    -d '{{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"tasks/send\",\"params\":{{\"skill\":\"weather-lookup\",\"message\":{{\"city\":\"San Francisco\"}}}}}}'\n"
    )?;
    writeln!(out, "  curl -s {tenant_url}/hello -H 'Content-Type: application/json' -d '{{\"name\":\"Ada\"}}'\n")?;
    writeln!(out, "Deploy a function of yours from another terminal: pleat deploy hello.js")?;
    out.flush()
}
