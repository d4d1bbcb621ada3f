//! The sandbox: a small component is compiled, loaded and asked to describe itself, as at a deploy.

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use bytes::Bytes;
use pleat_runtime::{Language, Party, PoolSize, Runtime, RuntimeConfig, Source};

use super::Finding;

const CHECK: &str = "sandbox";
const FIX: &str = "see the cause; a missing CPU feature, a seccomp filter or noexec on the data directory are usual";

/// The smallest component of the world.
const COMPONENT: &str = include_str!("../../../../tests/fixtures/minimal.wat");

pub async fn compiles(data_dir: &Path) -> Finding {
    let place = data_dir.join(format!(".doctor-sandbox-{}", std::process::id()));
    let began = Instant::now();
    let tried = attempt(&place).await;
    let _ = std::fs::remove_dir_all(&place);
    match tried {
        Ok(()) => Finding::ok(CHECK, format!("a component was compiled and run in {} ms", began.elapsed().as_millis())),
        Err(error) => Finding::fail(CHECK, format!("{error:#}"), FIX),
    }
}

async fn attempt(place: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(place)?;
    let compiler = vec![std::env::current_exe()?.into_os_string(), OsString::from("__compile")];
    let config = RuntimeConfig {
        pool: PoolSize { instances: 2 },
        workers: 1,
        ..RuntimeConfig::new(place.canonicalize()?, compiler)
    };
    let runtime = Runtime::start(config)?;
    let source = Source {
        language: Language::ComponentText,
        file_name: "minimal.wat".to_owned(),
        bytes: Bytes::from_static(COMPONENT.as_bytes()),
    };
    runtime.prepare(&source, Party::default()).await?;
    let described = runtime.describe(&source.version(), Party::default()).await;
    runtime.shutdown().await;
    match described {
        Ok(_) => Ok(()),
        Err(failure) => Err(anyhow::anyhow!("{}", failure.message)),
    }
}
