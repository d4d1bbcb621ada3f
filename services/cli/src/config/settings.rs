//! Every key with its default. `deploy/pleat.toml` says in words what each is for, and a test holds it against this.

use clap::ValueEnum;
use pleat_domain::Plans;
use pleat_runtime::SandboxMode;
use serde::{Deserialize, Serialize};

/// No `Debug`: it holds the database's password.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub server: ServerSettings,
    pub cluster: ClusterSettings,
    pub database: DatabaseSettings,
    pub retention: RetentionSettings,
    pub limits: LimitSettings,
    pub runtime: RuntimeSettings,
    /// By name; what the platform brings itself is there too.
    pub plans: Plans,
    pub egress: EgressSettings,
    pub push: PushSettings,
    pub cors: CorsSettings,
    pub log: LogSettings,
    pub metrics: MetricsSettings,
    pub tracing: TracingSettings,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSettings {
    /// `None`: what `dev` and `serve` each have.
    pub listen: Option<String>,
    pub base_domain: String,
    pub public_url: Option<String>,
    pub hosts: Vec<String>,
    pub data_dir: String,
    pub drain_seconds: u64,
    pub connections: usize,
    pub connections_per_address: usize,
    pub header_seconds: u64,
    pub idle_seconds: u64,
    pub write_seconds: u64,
    /// Networks of load balancers and reverse proxies.
    pub trusted_proxies: Vec<String>,
    pub proxy_protocol: bool,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            listen: None,
            base_domain: "localhost".to_owned(),
            public_url: None,
            hosts: Vec::new(),
            data_dir: ".pleat".to_owned(),
            drain_seconds: 5,
            connections: 8_192,
            connections_per_address: 1_024,
            header_seconds: 10,
            idle_seconds: 75,
            write_seconds: 30,
            trusted_proxies: Vec::new(),
            proxy_protocol: false,
        }
    }
}

/// The same on every node of an installation.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterSettings {
    pub lease_ms: u64,
}

impl Default for ClusterSettings {
    fn default() -> Self {
        Self { lease_ms: 10_000 }
    }
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DatabaseSettings {
    /// `None`: a private one in the data directory.
    pub url: Option<String>,
    pub readers: u32,
    pub writers: usize,
    pub batch: usize,
    pub linger_ms: u64,
    pub queue: usize,
}

impl Default for DatabaseSettings {
    fn default() -> Self {
        Self { url: None, readers: 8, writers: 2, batch: 256, linger_ms: 1, queue: 4096 }
    }
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionSettings {
    pub hours: u64,
    /// How many versions that are no longer active are kept of each function.
    pub versions: u32,
    /// How long code that another engine compiled is kept.
    pub cache_days: u64,
    /// How long the audit log is kept.
    pub audit_days: u32,
}

impl Default for RetentionSettings {
    fn default() -> Self {
        Self { hours: 24, versions: 20, cache_days: 30, audit_days: 400 }
    }
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    pub request_body_mib: u64,
    /// Of one address, without a valid key. 0: as many as they like.
    pub stranger_requests_per_minute: u64,
    pub stranger_burst: u64,
    /// Request bodies that are held at once: of the node, and of one tenant.
    pub bodies_mib: usize,
    pub tenant_bodies_mib: usize,
    /// Open event streams over A2A and HTTP: of the node, and of one caller.
    pub streams: usize,
    pub streams_per_caller: usize,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            request_body_mib: 4,
            stranger_requests_per_minute: 12_000,
            stranger_burst: 6_000,
            bodies_mib: 256,
            tenant_bodies_mib: 64,
            streams: 8_192,
            streams_per_caller: 1_000,
        }
    }
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuntimeSettings {
    pub instances: u32,
    /// 0: three eighths of the machine's.
    pub memory_mib: usize,
    /// 0: as many as there are cores.
    pub workers: usize,
    pub loaded: u64,
    pub compile_concurrency: usize,
    pub compile_queue: usize,
    pub compile_wait_seconds: u64,
    pub compile_memory_mib: usize,
    pub compile_cpu_seconds: u64,
    pub compile_wall_seconds: u64,
    pub recompile: bool,
    pub recompile_nice: i32,
    pub sandbox: SandboxMode,
    pub code_cache_mib: u64,
}

impl Default for RuntimeSettings {
    fn default() -> Self {
        Self {
            instances: 1_000,
            memory_mib: 0,
            workers: 0,
            loaded: 2_000,
            compile_concurrency: 2,
            compile_queue: 256,
            compile_wait_seconds: 240,
            compile_memory_mib: 4_096,
            compile_cpu_seconds: 30,
            compile_wall_seconds: 240,
            recompile: true,
            recompile_nice: 15,
            sandbox: SandboxMode::Preferred,
            code_cache_mib: 2_048,
        }
    }
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EgressSettings {
    pub allow: Vec<String>,
    pub only: Vec<String>,
    /// Files of certificates.
    pub roots: Vec<String>,
    pub plain_http: bool,
    pub ports: Vec<u16>,
    pub connect_seconds: u64,
    pub total_seconds: u64,
    pub request_mib: usize,
    pub response_mib: usize,
    pub redirects: usize,
    pub per_tenant_concurrency: usize,
}

impl Default for EgressSettings {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            only: Vec::new(),
            roots: Vec::new(),
            plain_http: false,
            ports: vec![80, 443, 8080, 8443],
            connect_seconds: 5,
            total_seconds: 30,
            request_mib: 4,
            response_mib: 4,
            redirects: 3,
            per_tenant_concurrency: 32,
        }
    }
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PushSettings {
    pub attempts: u32,
    pub first_pause_ms: u64,
    pub timeout_seconds: u64,
    pub per_destination: usize,
    pub per_second: u32,
    pub body_kib: usize,
    pub kib_per_second: usize,
    pub tenant_kib_per_second: usize,
    pub unverified_attempts: u32,
    pub unverified_kib: usize,
}

impl Default for PushSettings {
    fn default() -> Self {
        Self {
            attempts: 8,
            first_pause_ms: 1_000,
            timeout_seconds: 15,
            per_destination: 8,
            per_second: 50,
            body_kib: 256,
            kib_per_second: 1_024,
            tenant_kib_per_second: 4_096,
            unverified_attempts: 64,
            unverified_kib: 1_024,
        }
    }
}

#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CorsSettings {
    pub control: Vec<String>,
    pub tenants: Vec<String>,
}

/// How the log of a server is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One readable line per event
    #[default]
    Text,
    /// One JSON object per line
    Json,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    pub format: LogFormat,
    pub level: String,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { format: LogFormat::Text, level: "info".to_owned() }
    }
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetricsSettings {
    pub enabled: bool,
    /// `None`: on the control host, for who has the token or the operator's key.
    pub listen: Option<String>,
    pub token: Option<String>,
    /// Whether the tenant is a label.
    pub tenants: bool,
}

impl Default for MetricsSettings {
    fn default() -> Self {
        Self { enabled: true, listen: None, token: None, tenants: false }
    }
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TracingSettings {
    /// `None`: no traces are sent.
    pub endpoint: Option<String>,
    pub service_name: String,
    pub sample: f64,
}

impl Default for TracingSettings {
    fn default() -> Self {
        Self { endpoint: None, service_name: "pleat".to_owned(), sample: 1.0 }
    }
}
