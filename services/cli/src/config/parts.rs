//! From settings to what each part of a node is started with.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use ipnet::IpNet;
use pleat_domain::Plans;
use pleat_domain::limits::{KIB, MIB};
use pleat_engine::{EngineConfig, PushTimes};
use pleat_gateway::{BodyLimits, ConnectionLimits, CorsConfig, GatewayConfig, Metrics, StrangerLimits, StreamLimits};
use pleat_runtime::{CodeKey, CompileLimits, PoolSize, RuntimeConfig};
use pleat_store::StoreConfig;

use super::machine_memory;
use super::settings::Settings;
use crate::file_limit;
use crate::problem::Problem;

impl Settings {
    pub fn listen(&self, default: SocketAddr) -> Result<SocketAddr, Problem> {
        match &self.server.listen {
            Some(text) => address("server.listen", text),
            None => Ok(default),
        }
    }

    pub fn metrics_listen(&self) -> Result<Option<SocketAddr>, Problem> {
        self.metrics.listen.as_deref().map(|text| address("metrics.listen", text)).transpose()
    }

    /// What counts; the same one every time. `None`: nothing is counted.
    pub fn recorder(&self) -> Option<Metrics> {
        if self.metrics.enabled { Metrics::install() } else { None }
    }

    pub fn gateway(&self) -> Result<GatewayConfig, Problem> {
        let server = &self.server;
        Ok(GatewayConfig {
            base_domain: server.base_domain.to_ascii_lowercase(),
            public_url: server.public_url.clone(),
            hosts: server.hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            request_body: usize::try_from(self.limits.request_body_mib).unwrap_or(1).saturating_mul(MIB),
            cors: CorsConfig { control: self.cors.control.clone(), tenants: self.cors.tenants.clone() },
            metrics: self.recorder(),
            metrics_token: self.metrics.token.clone(),
            connections: self.connections()?,
            streams: StreamLimits { node: self.limits.streams, per_caller: self.limits.streams_per_caller },
            bodies: BodyLimits {
                node: self.limits.bodies_mib.saturating_mul(MIB),
                owner: self.limits.tenant_bodies_mib.saturating_mul(MIB),
            },
            strangers: StrangerLimits {
                per_minute: self.limits.stranger_requests_per_minute,
                burst: self.limits.stranger_burst,
            },
            ..GatewayConfig::default()
        })
    }

    fn connections(&self) -> Result<ConnectionLimits, Problem> {
        let server = &self.server;
        Ok(ConnectionLimits {
            connections: file_limit::allow_connections(server.connections),
            per_address: server.connections_per_address,
            header: Duration::from_secs(server.header_seconds),
            idle: Duration::from_secs(server.idle_seconds),
            write: Duration::from_secs(server.write_seconds),
            trusted_proxies: server.trusted_proxies.iter().map(|text| network(text)).collect::<Result<_, _>>()?,
            proxy_protocol: server.proxy_protocol,
        })
    }

    pub fn engine(&self, config: EngineConfig) -> EngineConfig {
        EngineConfig {
            drain: Duration::from_secs(self.server.drain_seconds),
            measure_tenants: self.metrics.tenants,
            push: self.push(),
            plans: if config.plans == Plans::default() { self.plans.clone() } else { config.plans },
            ..config
        }
    }

    fn push(&self) -> PushTimes {
        let push = &self.push;
        PushTimes {
            attempts: push.attempts,
            first_pause: Duration::from_millis(push.first_pause_ms),
            timeout: Duration::from_secs(push.timeout_seconds),
            at_once: push.per_destination,
            per_second: push.per_second,
            body_bytes: push.body_kib.saturating_mul(KIB),
            bytes_per_second: push.kib_per_second.saturating_mul(KIB),
            tenant_bytes_per_second: push.tenant_kib_per_second.saturating_mul(KIB),
            unverified_attempts: push.unverified_attempts,
            unverified_bytes: push.unverified_kib.saturating_mul(KIB),
        }
    }

    pub fn store(&self, url: &str) -> StoreConfig {
        let database = &self.database;
        StoreConfig {
            retention: Duration::from_secs(self.retention.hours.saturating_mul(60 * 60)),
            versions: self.retention.versions,
            audit_days: self.retention.audit_days,
            readers: database.readers,
            writers: database.writers,
            batch: database.batch,
            linger: Duration::from_millis(database.linger_ms),
            queue: database.queue,
            lease: Duration::from_millis(self.cluster.lease_ms),
            ..StoreConfig::new(url)
        }
    }

    pub fn keep_old_code(&self) -> Duration {
        Duration::from_secs(self.retention.cache_days.saturating_mul(24 * 60 * 60))
    }

    pub fn runtime(&self, data_dir: &Path, compiler: Vec<OsString>, code_key: CodeKey) -> RuntimeConfig {
        let runtime = &self.runtime;
        let default = RuntimeConfig::new(data_dir, compiler, code_key);
        RuntimeConfig {
            pool: PoolSize { instances: runtime.instances },
            workers: if runtime.workers == 0 { default.workers } else { runtime.workers },
            memory_bytes: match runtime.memory_mib {
                0 => machine_memory::default_budget(),
                mib => mib.saturating_mul(MIB),
            },
            loaded: runtime.loaded,
            sandbox: runtime.sandbox,
            code_cache_bytes: runtime.code_cache_mib.saturating_mul(MIB as u64),
            compile: CompileLimits {
                memory_bytes: runtime.compile_memory_mib.saturating_mul(MIB),
                cpu: Duration::from_secs(runtime.compile_cpu_seconds),
                wall: Duration::from_secs(runtime.compile_wall_seconds),
                concurrency: runtime.compile_concurrency,
                queue: runtime.compile_queue,
                wait: Duration::from_secs(runtime.compile_wait_seconds),
                background_nice: runtime.recompile_nice,
            },
            ..default
        }
    }
}

/// A network, or one address.
fn network(text: &str) -> Result<IpNet, Problem> {
    let parsed = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    let hint = "give networks, for example 10.0.0.0/8 or fd00::/8, or addresses";
    parsed.map_err(|_| Problem::usage(format!("`server.trusted_proxies`: `{text}` is no network"), hint))
}

fn address(key: &str, text: &str) -> Result<SocketAddr, Problem> {
    let hint = "give an IP address and a port, for example 127.0.0.1:8787";
    text.parse().map_err(|_| Problem::usage(format!("`{key}`: `{text}` is no address to listen on"), hint))
}
