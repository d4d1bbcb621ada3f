//! Log line at the start of a node: what the sandbox of the compiler is worth on this machine.

use pleat_runtime::{Runtime, SandboxMode, SandboxReport};

use crate::problem::Problem;

pub const FIX: &str = "use Linux 5.13 or newer with Landlock among its security modules (`lsm=landlock,…`) and without a \
                       seccomp profile that forbids landlock_* and seccomp";

/// Tests the sandbox and logs the result. Where it is required, the start waits for it and fails if a layer is missing.
pub async fn announce(runtime: &Runtime, mode: SandboxMode) -> anyhow::Result<()> {
    match mode {
        SandboxMode::Off => tracing::warn!("the compiler runs without a sandbox: runtime.sandbox is `off`"),
        SandboxMode::Required => {
            let report = runtime.test_sandbox().await.map_err(|error| Problem::failed(error.to_string(), FIX))?;
            log(&report);
            let leaks = report.leaks();
            if !leaks.is_empty() {
                return Err(Problem::failed(format!("the compiler's sandbox allows: {}", leaks.join(", ")), FIX).into());
            }
        }
        SandboxMode::Preferred => {
            let runtime = runtime.clone();
            tokio::spawn(async move {
                match runtime.test_sandbox().await {
                    Ok(report) => log(&report),
                    Err(error) => {
                        tracing::error!(error = &error as &dyn std::error::Error, "compiler sandbox: no test")
                    }
                }
            });
        }
    }
    Ok(())
}

fn log(report: &SandboxReport) {
    let (missing, leaks) = (report.missing(), report.leaks());
    if missing.is_empty() && leaks.is_empty() {
        tracing::info!("compiler sandbox: {}", report.summary());
    } else {
        let (missing, leaks) = (missing.join(", "), leaks.join(", "));
        tracing::warn!(missing, leaks, "compiler sandbox: {}", report.summary());
    }
}
