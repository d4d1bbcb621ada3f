//! The sandboxes: a small component is compiled, loaded and asked to describe itself, as at a deploy; and a compile child
//! tries to leave its sandbox.

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use bytes::Bytes;
use pleat_runtime::{CodeKey, Language, Party, PoolSize, Runtime, RuntimeConfig, SandboxMode, SandboxReport, Source};

use super::Finding;
use crate::compiler_sandbox;

const CHECK: &str = "sandbox";
const FIX: &str = "see the cause; a missing CPU feature, a seccomp filter or noexec on the data directory are usual";

/// The smallest component of the world.
const COMPONENT: &str = include_str!("../../../../tests/fixtures/minimal.wat");

pub async fn look(data_dir: &Path, mode: SandboxMode) -> Vec<Finding> {
    let place = data_dir.join(format!(".doctor-sandbox-{}", std::process::id()));
    let began = Instant::now();
    let tried = attempt(&place, mode).await;
    let _ = std::fs::remove_dir_all(&place);
    match tried {
        Ok(report) => {
            let took = began.elapsed().as_millis();
            vec![Finding::ok(CHECK, format!("a component was compiled and run in {took} ms")), compiler(&report, mode)]
        }
        Err(error) => vec![Finding::fail(CHECK, format!("{error:#}"), FIX)],
    }
}

fn compiler(report: &SandboxReport, mode: SandboxMode) -> Finding {
    const CHECK: &str = "compiler sandbox";
    let (missing, leaks) = (report.missing(), report.leaks());
    if mode == SandboxMode::Off {
        let fix = "set runtime.sandbox to `preferred` or `required`";
        return Finding::warn(CHECK, "turned off: a fault in the compiler reaches what this account can", fix);
    }
    if !leaks.is_empty() {
        let found = format!("{}; possible inside: {}", report.summary(), leaks.join(", "));
        return Finding::fail(CHECK, found, compiler_sandbox::FIX);
    }
    if missing.is_empty() {
        return Finding::ok(CHECK, report.summary());
    }
    Finding::warn(CHECK, report.summary(), compiler_sandbox::FIX)
}

async fn attempt(place: &Path, mode: SandboxMode) -> anyhow::Result<SandboxReport> {
    std::fs::create_dir_all(place)?;
    let compiler = vec![std::env::current_exe()?.into_os_string(), OsString::from("__compile")];
    let config = RuntimeConfig {
        pool: PoolSize { instances: 2 },
        workers: 1,
        sandbox: mode,
        ..RuntimeConfig::new(place.canonicalize()?, compiler, CodeKey::from_bytes([0; 32]))
    };
    let runtime = Runtime::start(config)?;
    let source = Source {
        language: Language::ComponentText,
        file_name: "minimal.wat".to_owned(),
        bytes: Bytes::from_static(COMPONENT.as_bytes()),
    };
    let report = runtime.test_sandbox().await?;
    runtime.prepare(&source, Party::default()).await?;
    let described = runtime.describe(&source.version(), Party::default()).await;
    runtime.shutdown().await;
    match described {
        Ok(_) => Ok(report),
        Err(failure) => Err(anyhow::anyhow!("{}", failure.message)),
    }
}
