//! The flags of a node. Each is a key of the configuration, for what is set most often or by hand.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::config::{LogFormat, Source};

/// What `dev`, `serve`, `config` and `doctor` can all be told.
#[derive(Args)]
pub struct NodeArgs {
    /// The configuration file [default: ./pleat.toml, else /etc/pleat/pleat.toml, where there is one]
    #[arg(long, env = "PLEAT_CONFIG", value_name = "FILE", hide_env_values = true)]
    pub config: Option<PathBuf>,
    /// The address to listen on; port 0 takes any free one [default: 0.0.0.0:8787; `pleat dev`: 127.0.0.1:8787]
    #[arg(long, env = "PLEAT_LISTEN", value_name = "ADDR", hide_env_values = true)]
    listen: Option<SocketAddr>,
    /// Tenants are served at `{tenant}.DOMAIN`, the control API at DOMAIN [default: localhost]
    #[arg(long, env = "PLEAT_BASE_DOMAIN", value_name = "DOMAIN", hide_env_values = true)]
    base_domain: Option<String>,
    /// The URL under which clients reach the control host, when a proxy stands in front
    #[arg(long, env = "PLEAT_PUBLIC_URL", value_name = "URL", hide_env_values = true)]
    public_url: Option<String>,
    /// The database; without it a private one is kept in the data directory
    #[arg(long, env = "DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: Option<String>,
    /// How long tasks, their events and logs are kept, in hours [default: 24]
    #[arg(long, env = "PLEAT_RETENTION_HOURS", value_name = "HOURS", hide_env_values = true)]
    retention_hours: Option<u64>,
    /// The largest request body that is taken, in MiB [default: 4]
    #[arg(long, env = "PLEAT_REQUEST_BODY_MIB", value_name = "MIB", hide_env_values = true)]
    request_body_mib: Option<u64>,
    /// How long running calls may take to finish when the node is told to stop, in seconds [default: 5]
    #[arg(long, env = "PLEAT_DRAIN_SECONDS", value_name = "SECONDS", hide_env_values = true)]
    drain_seconds: Option<u64>,
    /// How long a node is taken for alive after its last sign of life, in milliseconds; the same on every node
    #[arg(long, env = "PLEAT_LEASE_MS", value_name = "MS", hide = true, hide_env_values = true)]
    lease_ms: Option<u64>,
    /// A further name of the control host; may be repeated
    #[arg(long = "host", env = "PLEAT_HOSTS", value_name = "NAME", value_delimiter = ',', hide_env_values = true)]
    hosts: Vec<String>,
    /// A private destination that functions may reach all the same, such as `git.internal:3000`, `10.1.0.0/16` or
    /// `127.0.0.1:*`; may be repeated
    #[arg(long, env = "PLEAT_EGRESS_ALLOW", value_name = "RULE", value_delimiter = ',', hide_env_values = true)]
    egress_allow: Vec<String>,
    /// A host that functions may reach, and no other; may be repeated [default: any public one]
    #[arg(long, env = "PLEAT_EGRESS_ONLY", value_name = "HOST", value_delimiter = ',', hide_env_values = true)]
    egress_only: Vec<String>,
    /// A PEM file of certificates that outbound requests trust beside the public ones; may be repeated
    #[arg(long, env = "PLEAT_EGRESS_ROOTS", value_name = "FILE", value_delimiter = ',', hide_env_values = true)]
    egress_roots: Vec<String>,
    /// How the log is written [default: text]
    #[arg(long, env = "PLEAT_LOG_FORMAT", value_name = "FORMAT", value_enum, hide_env_values = true)]
    log_format: Option<LogFormat>,
}

/// A key that was given by flag, or by the variable that clap reads for it.
pub struct Given {
    pub key: &'static str,
    pub text: String,
    pub source: Source,
}

impl NodeArgs {
    /// What was given, empty texts left out.
    pub fn given(&self, data_dir: Option<&PathBuf>) -> Vec<Given> {
        let log_format = self.log_format.map(|format| if format == LogFormat::Json { "json" } else { "text" });
        let all = [
            ("server.listen", "--listen", "PLEAT_LISTEN", self.listen.map(|address| address.to_string())),
            ("server.base_domain", "--base-domain", "PLEAT_BASE_DOMAIN", self.base_domain.clone()),
            ("server.public_url", "--public-url", "PLEAT_PUBLIC_URL", self.public_url.clone()),
            ("server.hosts", "--host", "PLEAT_HOSTS", list(&self.hosts)),
            ("server.data_dir", "--data-dir", "PLEAT_DATA_DIR", data_dir.map(|path| path.display().to_string())),
            ("database.url", "--database-url", "DATABASE_URL", self.database_url.clone()),
            ("retention.hours", "--retention-hours", "PLEAT_RETENTION_HOURS", number(self.retention_hours)),
            ("limits.request_body_mib", "--request-body-mib", "PLEAT_REQUEST_BODY_MIB", number(self.request_body_mib)),
            ("server.drain_seconds", "--drain-seconds", "PLEAT_DRAIN_SECONDS", number(self.drain_seconds)),
            ("cluster.lease_ms", "--lease-ms", "PLEAT_LEASE_MS", number(self.lease_ms)),
            ("egress.allow", "--egress-allow", "PLEAT_EGRESS_ALLOW", list(&self.egress_allow)),
            ("egress.only", "--egress-only", "PLEAT_EGRESS_ONLY", list(&self.egress_only)),
            ("egress.roots", "--egress-roots", "PLEAT_EGRESS_ROOTS", list(&self.egress_roots)),
            ("log.format", "--log-format", "PLEAT_LOG_FORMAT", log_format.map(str::to_owned)),
        ];
        let given = all.into_iter().filter_map(|(key, flag, variable, text)| {
            let text = text.filter(|text| !text.trim().is_empty())?;
            let source =
                if on_the_command_line(flag) { Source::Flag(flag) } else { Source::Environment(variable.to_owned()) };
            Some(Given { key, text, source })
        });
        given.collect()
    }
}

fn number(value: Option<u64>) -> Option<String> {
    value.map(|value| value.to_string())
}

/// An empty list is nothing given.
fn list(values: &[String]) -> Option<String> {
    Some(values.join(","))
}

fn on_the_command_line(flag: &str) -> bool {
    std::env::args_os().any(|argument| {
        let argument = argument.to_string_lossy();
        argument.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}
