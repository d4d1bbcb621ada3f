//! The compile child's sandbox, tried from inside: nothing of the machine is within reach of what compiles uploads.

use pleat_domain::CallLimits;
use pleat_runtime::{CodeKey, Language, Party, PoolSize, Runtime, RuntimeConfig, SandboxMode, Source};

use super::{call_with, handle, nothing};

fn runtime(directory: &std::path::Path, mode: SandboxMode, compiler: &[&str]) -> Runtime {
    let compiler = compiler.iter().map(Into::into).collect();
    let mut config = RuntimeConfig::new(directory, compiler, CodeKey::from_bytes([0; 32]));
    config.pool = PoolSize { instances: 2 };
    config.sandbox = mode;
    Runtime::start(config).unwrap()
}

#[tokio::test]
async fn compile_child_is_refused_every_way_out_of_its_sandbox() {
    let directory = tempfile::tempdir().unwrap();
    let pleat = crate::harness::pleat();
    let runtime = runtime(directory.path(), SandboxMode::Preferred, &[pleat, "__compile"]);
    let report = runtime.test_sandbox().await.unwrap();
    assert!(report.seccomp() && report.not_dumpable(), "{report:?}");
    assert_eq!(report.leaks(), Vec::<String>::new(), "{report:?}");
    if report.landlock() > 0 {
        let open: Vec<_> = report.attempts.iter().filter(|tried| tried.refused_by_landlock == Some(false)).collect();
        assert!(open.is_empty(), "each layer holds by itself: {open:?}");
    }
}

#[tokio::test]
async fn self_test_of_a_child_without_sandbox_finds_the_ways_out() {
    let directory = tempfile::tempdir().unwrap();
    let pleat = crate::harness::pleat();
    let runtime = runtime(directory.path(), SandboxMode::Off, &[pleat, "__compile"]);
    let leaks = runtime.test_sandbox().await.unwrap().leaks();
    for name in ["read /etc/passwd", "write a file", "make a UDP socket", "start a process", "signal its parent"] {
        assert!(leaks.iter().any(|leak| leak == name), "{name}: {leaks:?}");
    }
}

#[tokio::test]
async fn compile_child_sees_no_inherited_descriptor_or_variable() {
    let directory = tempfile::tempdir().unwrap();
    let pleat = crate::harness::pleat();
    let leaky = format!("exec 7</etc/passwd 9</dev/null; PLEAT_MASTER_KEY=secret exec env -i {pleat} __compile");
    let runtime = runtime(directory.path(), SandboxMode::Preferred, &["/bin/sh", "-c", &leaky]);
    let report = runtime.test_sandbox().await.unwrap();
    assert!(report.descriptors.is_empty(), "{report:?}");
    assert!(report.leaks().is_empty(), "{report:?}");
}

#[tokio::test]
async fn scripts_and_types_compile_inside_the_sandbox() {
    let directory = tempfile::tempdir().unwrap();
    let pleat = crate::harness::pleat();
    let runtime = runtime(directory.path(), SandboxMode::Preferred, &[pleat, "__compile"]);
    for _ in 0..2 {
        // The second time with what the first one kept, and in the same file again after a start.
        let text = "export default (input: unknown): number => 42;";
        let source = Source { language: Language::TypeScript, file_name: "x.ts".into(), bytes: text.into() };
        runtime.prepare(&source, Party(1)).await.unwrap();
        let (report, _) = call_with(&runtime, &source, handle(&nothing()), CallLimits::DEFAULT).await;
        assert!(report.result.is_ok(), "{:?}", report.result.err());
    }
}
