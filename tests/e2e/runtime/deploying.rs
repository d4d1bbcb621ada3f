//! From a source to a loaded function, and every reason why not.

use std::time::{Duration, Instant};

use pleat_domain::{CallLimits, Manifest, Reason};
use pleat_runtime::{
    CodeKey, Language, Outcome, Party, PoolSize, PrepareError, Runtime, RuntimeConfig, RuntimeError, Source, VersionRef,
};
use serde_json::json;

use super::{call_with, handle, minimal, nothing, probe, refused, short};
use crate::harness::fixture;

fn text(name: &str) -> Source {
    Source { language: Language::ComponentText, file_name: name.into(), bytes: fixture(name).into() }
}

fn component(bytes: impl Into<bytes::Bytes>) -> Source {
    Source { language: Language::Component, file_name: "x.wasm".into(), bytes: bytes.into() }
}

fn compiler() -> Vec<std::ffi::OsString> {
    vec![crate::harness::pleat().into(), "__compile".into()]
}

/// The files of compiled code, in order.
fn compiled(data_dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let engine = std::fs::read_dir(data_dir.join("cache")).unwrap().next().unwrap().unwrap().path();
    let entries = std::fs::read_dir(engine).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|kind| kind == "cwasm")).collect();
    files.sort();
    files
}

/// One of many versions that do the same.
fn numbered(number: u32) -> Source {
    let source = minimal("", "");
    let text = format!("{}\n;; {number}\n", String::from_utf8_lossy(&source.bytes));
    Source { bytes: text.into(), ..source }
}

fn small(directory: &std::path::Path) -> Runtime {
    let mut config = RuntimeConfig::new(directory, compiler(), CodeKey::from_bytes([0; 32]));
    config.pool = PoolSize { instances: 2 };
    Runtime::start(config).unwrap()
}

#[tokio::test]
async fn the_manifest_comes_out_of_the_code() {
    let runtime = crate::harness::runtime();
    runtime.prepare(&probe(), Party::default()).await.unwrap();
    let manifest = Manifest::parse(&runtime.describe(&probe().version(), Party::default()).await.unwrap()).unwrap();
    assert_eq!((manifest.description.as_str(), manifest.title.as_deref()), ("Does what its input says", Some("Probe")));
    let endless = minimal("describe", "(loop (br 0)) (unreachable)");
    runtime.prepare(&endless, Party::default()).await.unwrap();
    let failure = runtime.describe(&endless.version(), Party::default()).await.unwrap_err();
    assert_eq!(
        (failure.reason, failure.message.as_str()),
        (Reason::CpuLimit, "`describe` used more than 1000 ms of CPU time")
    );
}

#[tokio::test]
async fn text_components_run() {
    let source = minimal("", "");
    let (report, _) = call_with(&crate::harness::runtime(), &source, handle(&nothing()), short()).await;
    assert!(matches!(report.result.unwrap(), Outcome::Value(value) if value.get() == "\"ok\""));
}

#[tokio::test]
async fn what_is_no_component_is_refused_with_the_reason() {
    let core = wat::parse_bytes(&fixture("core-module.wat")).unwrap().into_owned();
    let rows = [
        (component("hello"), "the file is not WebAssembly"),
        (component(""), "the file is not WebAssembly"),
        (component("\0asm\u{d}\0\u{1}\0garbage"), "the component is not valid"),
        (component(fixture("probe.wasm")[..5000].to_vec()), "the component is not valid"),
        (component(core), "this is a core WebAssembly module"),
        (text("core-module.wat"), "this is a core WebAssembly module"),
        (text("wrong-world.wat"), "does not export `pleat:function/handler@1.0.0`"),
        (text("unknown-import.wat"), "imports `example:rocket/launcher@1.0.0`"),
        (minimal("functions", "(func (param"), "the text is not WebAssembly"),
        (minimal("functions", "(func (result i32))"), "the component is not valid"),
    ];
    for (source, words) in rows {
        let error = refused(&source).await;
        assert!(matches!(error, PrepareError::Invalid { .. }), "{error:?}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.is_callers());
    }
}

#[tokio::test]
async fn what_wants_too_much_is_refused_at_deploy() {
    let rows = [
        (minimal("memory", "(memory 1) (memory 1) (memory 1) (memory 1)"), "memories"),
        (minimal("memory", "(memory 8192)"), "memory"),
        (minimal("memory", "(memory i64 1)"), "memory64"),
        (minimal("memory", "(memory 1 2 shared)"), "threads"),
        (minimal("table", "(table 30000 funcref)"), "table"),
        (minimal("table", &"(table 1 funcref)".repeat(17)), "tables"),
    ];
    for (source, words) in rows {
        let error = refused(&source).await;
        assert!(matches!(error, PrepareError::Invalid { .. }), "{error:?}");
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
}

#[tokio::test]
async fn compile_bombs_are_found_before_they_go_off() {
    let blocks = format!("(func {} {})", "block ".repeat(20_000), "end ".repeat(20_000));
    let adds = format!("(func (result i32) i32.const 0 {})", "i32.const 1 i32.add ".repeat(400_000));
    let rows = [
        (minimal("functions", &blocks), "blocks inside each other; the most is"),
        (minimal("functions", &"(func)".repeat(70_000)), "functions; the most is"),
        (minimal("functions", &adds), "bytes in one function; the most is"),
        (minimal("functions", &format!("(func (local {}))", "i32 ".repeat(60_000))), "local variables in one function"),
        (minimal("functions", &"(global i32 (i32.const 0))".repeat(210_000)), "declarations; the most is"),
        (component(nested(20)), "modules inside each other"),
    ];
    for (source, words) in rows {
        let began = Instant::now();
        let error = refused(&source).await;
        assert!(matches!(error, PrepareError::TooComplex { .. }), "{error:?}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    }
}

/// Components inside each other.
fn nested(depth: usize) -> Vec<u8> {
    let text = format!("{}{}", "(component ".repeat(depth), ")".repeat(depth));
    wat::parse_str(text).unwrap()
}

#[tokio::test]
async fn deep_text_does_not_hurt() {
    let source = minimal("functions", &format!("(func {} {})", "(block ".repeat(100_000), ")".repeat(100_000)));
    let error = refused(&source).await;
    assert!(error.is_callers(), "{error:?}");
}

#[tokio::test]
async fn the_child_lives_under_its_limits() {
    let directory = tempfile::tempdir().unwrap();
    let limited = |change: fn(&mut RuntimeConfig)| {
        let mut config = RuntimeConfig::new(directory.path(), compiler(), CodeKey::from_bytes([0; 32]));
        config.pool = PoolSize { instances: 1 };
        change(&mut config);
        Runtime::start(config).unwrap()
    };
    let hungry = limited(|config| config.compile.memory_bytes = 64 << 20);
    let refused = hungry.prepare(&probe(), Party::default()).await;
    assert!(matches!(refused, Err(PrepareError::OutOfMemory)), "{refused:?}");
    let hasty = limited(|config| config.compile.wall = Duration::from_millis(1));
    let refused = hasty.prepare(&probe(), Party::default()).await;
    assert!(matches!(refused, Err(PrepareError::Starved)), "the machine's fault, not the source's: {refused:?}");
    // The script engine comes first, and a second is not enough for it.
    let hurried = limited(|config| config.compile.cpu = Duration::from_secs(1));
    let script =
        Source { language: Language::JavaScript, file_name: "x.js".into(), bytes: "export default () => 1".into() };
    let refused = hurried.prepare(&script, Party::default()).await;
    assert!(matches!(refused, Err(PrepareError::TimedOut)), "{refused:?}");
    let missing = limited(|config| config.compiler = vec!["/no/such/program".into()]);
    let refused = missing.prepare(&probe(), Party::default()).await;
    assert!(matches!(refused, Err(PrepareError::Child { .. })), "{refused:?}");
}

#[tokio::test]
async fn too_large_a_source_is_not_even_looked_at() {
    let script =
        Source { language: Language::JavaScript, file_name: "x.js".into(), bytes: vec![b' '; (1 << 20) + 1].into() };
    assert!(matches!(refused(&script).await, PrepareError::TooLarge { size: 1_048_577, most: 1_048_576 }));
}

#[tokio::test]
async fn code_that_is_damaged_or_missing_is_compiled_again() {
    let directory = tempfile::tempdir().unwrap();
    let source = minimal("", "");
    let first = small(directory.path());
    first.prepare(&source, Party::default()).await.unwrap();
    let code = compiled(directory.path()).remove(0);
    for damage in [&b"garbage"[..], &std::fs::read(&code).unwrap()[..1000]] {
        // By rename: the file is mapped, and cutting it short under the mapping would end this process.
        std::fs::write(code.with_extension("new"), damage).unwrap();
        std::fs::rename(code.with_extension("new"), &code).unwrap();
        let (report, _) = call_with(&small(directory.path()), &source, handle(&nothing()), short()).await;
        assert!(report.result.is_ok());
    }
    std::fs::remove_file(&code).unwrap();
    let again = small(directory.path());
    again.load(&source.version(), Party::default()).await.unwrap();
    assert!(code.exists());
}

#[tokio::test]
async fn code_that_was_exchanged_between_versions_is_compiled_again() {
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = (minimal("", ""), minimal("functions", "(func (result i32) i32.const 7)"));
    let before = small(directory.path());
    before.prepare(&one, Party::default()).await.unwrap();
    before.prepare(&other, Party::default()).await.unwrap();
    let files = compiled(directory.path());
    assert_eq!(files.len(), 2);
    // With their MACs: each is whole, and of the other version.
    for extension in ["cwasm", "mac"] {
        let (left, right) = (files[0].with_extension(extension), files[1].with_extension(extension));
        std::fs::rename(&left, left.with_extension("new")).unwrap();
        std::fs::rename(&right, &left).unwrap();
        std::fs::rename(left.with_extension("new"), right).unwrap();
    }
    let swapped: Vec<_> = files.iter().map(|path| std::fs::read(path).unwrap()).collect();
    let again = small(directory.path());
    again.load(&one.version(), Party::default()).await.unwrap();
    again.load(&other.version(), Party::default()).await.unwrap();
    for (path, swapped) in files.iter().zip(swapped) {
        assert_ne!(std::fs::read(path).unwrap(), swapped, "it was compiled again");
    }
}

#[tokio::test]
async fn code_under_another_key_is_compiled_again() {
    let directory = tempfile::tempdir().unwrap();
    let source = minimal("", "");
    small(directory.path()).prepare(&source, Party::default()).await.unwrap();
    let mut config = RuntimeConfig::new(directory.path(), compiler(), CodeKey::from_bytes([1; 32]));
    config.pool = PoolSize { instances: 2 };
    let other = Runtime::start(config).unwrap();
    assert!(!other.has_code(&source.version(), Party::default()));
    other.load(&source.version(), Party::default()).await.unwrap();
}

#[tokio::test]
async fn code_beyond_the_budget_is_evicted_and_compiled_again_when_needed() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = RuntimeConfig::new(directory.path(), compiler(), CodeKey::from_bytes([0; 32]));
    config.pool = PoolSize { instances: 2 };
    let elsewhere = tempfile::tempdir().unwrap();
    let size = small(elsewhere.path()).prepare(&numbered(0), Party(1)).await.unwrap().compiled_bytes;
    config.code_cache_bytes = 4 * size;
    let (budget, runtime) = (config.code_cache_bytes, Runtime::start(config.clone()).unwrap());
    for number in 0..12 {
        runtime.prepare(&numbered(number), Party(1)).await.unwrap();
        let used: u64 = compiled(directory.path()).iter().map(|path| path.metadata().unwrap().len()).sum();
        assert!(used <= budget, "{used} bytes after {} versions", number + 1);
    }
    assert!(!runtime.has_code(&numbered(0).version(), Party(1)), "the first one was evicted");
    assert!(runtime.has_code(&numbered(11).version(), Party(1)));
    // After a start nothing is loaded any more.
    let again = Runtime::start(config).unwrap();
    for number in [0, 5, 11] {
        again.load(&numbered(number).version(), Party(1)).await.unwrap();
    }
    assert!(again.has_code(&numbered(0).version(), Party(1)));
}

#[tokio::test]
async fn discarded_deploy_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let (runtime, source) = (small(directory.path()), minimal("", ""));
    let prepared = runtime.prepare(&source, Party(1)).await.unwrap();
    assert!(prepared.is_new && !runtime.prepare(&source, Party(1)).await.unwrap().is_new);
    runtime.discard(prepared.hash, Party(1)).await;
    assert!(compiled(directory.path()).is_empty());
    let sources = std::fs::read_dir(directory.path().join("artefacts")).unwrap();
    assert_eq!(sources.filter(|entry| entry.as_ref().unwrap().path().is_file()).count(), 0);
}

#[tokio::test]
async fn compiled_code_is_not_shared_by_tenants() {
    let directory = tempfile::tempdir().unwrap();
    let source = minimal("", "");
    let runtime = small(directory.path());
    runtime.prepare(&source, Party(1)).await.unwrap();
    assert!(runtime.has_code(&source.version(), Party(1)));
    assert!(!runtime.has_code(&source.version(), Party(2)), "nor can a quick deploy say so");
    runtime.take_compile_time();
    runtime.prepare(&source, Party(2)).await.unwrap();
    assert_eq!(compiled(directory.path()).len(), 2);
    runtime.prepare(&source, Party(2)).await.unwrap();
    assert_eq!(compiled(directory.path()).len(), 2, "a redeploy compiles nothing");
}

#[tokio::test]
async fn a_version_without_its_source_is_missed() {
    let runtime = crate::harness::runtime();
    let unknown = VersionRef { hash: component("never prepared").hash(), ..probe().version() };
    let error = runtime.load(&unknown, Party::default()).await.unwrap_err();
    assert!(
        matches!(&error, RuntimeError::Shared(error) if matches!(**error, RuntimeError::SourceMissing(_))),
        "{error:?}"
    );
    assert_eq!(runtime.describe(&unknown, Party::default()).await.unwrap_err().reason, Reason::Internal);
}

#[tokio::test]
async fn scripts_are_loaded_once_and_called_often() {
    let runtime = crate::harness::runtime();
    let script =
        |text: &'static str| Source { language: Language::JavaScript, file_name: "hi.js".into(), bytes: text.into() };
    let source = script("export const description = 'Hi'; export default (input) => ({ hi: input.name });");
    let (report, _) = call_with(&runtime, &source, handle(&json!({"name": "Ada"})), CallLimits::DEFAULT).await;
    assert!(matches!(report.result.unwrap(), Outcome::Value(value) if value.get() == r#"{"hi":"Ada"}"#));
    let error = refused(&script("export default (input) => {\n  retrun 1;\n}")).await;
    assert!(matches!(error, PrepareError::Script { .. }), "{error:?}");
    assert!(error.to_string().starts_with("hi.js:2:"), "{error}");
    let error = refused(&script("while (true) {}")).await;
    assert!(matches!(error, PrepareError::Script { .. }), "{error:?}");
}
