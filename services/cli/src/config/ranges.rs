//! What numbers may be: a value that could not work is refused when it is read, not when it is used.

use serde_json::Value;

/// Key, least, most.
const RANGES: &[(&str, f64, f64)] = &[
    ("server.drain_seconds", 0.0, 3_600.0),
    ("server.connections", 16.0, 1_000_000.0),
    ("server.connections_per_address", 1.0, 1_000_000.0),
    ("server.header_seconds", 1.0, 300.0),
    ("server.idle_seconds", 1.0, 3_600.0),
    ("server.write_seconds", 1.0, 3_600.0),
    ("cluster.lease_ms", 500.0, 600_000.0),
    ("limits.request_body_mib", 1.0, 32.0),
    ("limits.stranger_requests_per_minute", 0.0, 100_000_000.0),
    ("limits.stranger_burst", 1.0, 100_000_000.0),
    ("limits.bodies_mib", 32.0, 65_536.0),
    ("limits.tenant_bodies_mib", 32.0, 65_536.0),
    ("limits.streams", 1.0, 1_000_000.0),
    ("limits.streams_per_caller", 1.0, 1_000_000.0),
    ("retention.hours", 1.0, 8_760.0),
    ("retention.versions", 1.0, 10_000.0),
    ("retention.cache_days", 1.0, 3_650.0),
    ("retention.audit_days", 1.0, 3_650.0),
    ("database.readers", 1.0, 1_000.0),
    ("database.writers", 1.0, 64.0),
    ("database.batch", 1.0, 1_000.0),
    ("database.linger_ms", 0.0, 1_000.0),
    ("database.queue", 1.0, 1_000_000.0),
    ("runtime.instances", 1.0, 20_000.0),
    ("runtime.memory_mib", 0.0, 4_194_304.0),
    ("runtime.workers", 0.0, 1_024.0),
    ("runtime.loaded", 1.0, 1_000_000.0),
    ("runtime.compile_concurrency", 1.0, 64.0),
    ("runtime.compile_queue", 1.0, 10_000.0),
    ("runtime.compile_wait_seconds", 1.0, 3_600.0),
    ("runtime.compile_memory_mib", 256.0, 65_536.0),
    ("runtime.compile_cpu_seconds", 1.0, 600.0),
    ("runtime.compile_wall_seconds", 1.0, 3_600.0),
    ("runtime.recompile_nice", 0.0, 19.0),
    ("runtime.code_cache_mib", 32.0, 1_048_576.0),
    ("egress.connect_seconds", 1.0, 300.0),
    ("egress.total_seconds", 1.0, 900.0),
    ("egress.request_mib", 1.0, 64.0),
    ("egress.response_mib", 1.0, 64.0),
    ("egress.redirects", 0.0, 20.0),
    ("egress.per_tenant_concurrency", 1.0, 10_000.0),
    ("push.attempts", 1.0, 20.0),
    ("push.first_pause_ms", 10.0, 600_000.0),
    ("push.timeout_seconds", 1.0, 30.0),
    ("push.per_destination", 1.0, 1_000.0),
    ("push.per_second", 1.0, 10_000.0),
    ("push.body_kib", 32.0, 262_144.0),
    ("push.kib_per_second", 32.0, 4_194_304.0),
    ("push.tenant_kib_per_second", 32.0, 4_194_304.0),
    ("push.unverified_attempts", 1.0, 1_000_000.0),
    ("push.unverified_kib", 1.0, 4_194_304.0),
    ("tracing.sample", 0.0, 1.0),
];

pub fn fault(key: &str, value: &Value) -> Option<String> {
    let (_, least, most) = RANGES.iter().find(|(name, _, _)| *name == key)?;
    let number = value.as_f64()?;
    (number < *least || number > *most).then(|| format!("this must be from {least} to {most}, not {number}"))
}
