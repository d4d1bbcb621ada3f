//! Compiled code that is damaged, missing or another engine's: made again from the source, and said.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::harness::TestServer;
use crate::harness::dev::{Dev, Server};
use crate::harness::project::Project;

/// The one engine's directory of compiled code.
fn cache(project: &Project) -> PathBuf {
    let entries = std::fs::read_dir(project.data_dir().join("cache")).unwrap().map(|entry| entry.unwrap().path());
    let with_code: Vec<_> = entries.filter(|path| !code(path).is_empty()).collect();
    assert_eq!(with_code.len(), 1, "{with_code:?}");
    with_code[0].clone()
}

fn code(directory: &PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|kind| kind == "cwasm")).collect();
    files.sort();
    files
}

#[tokio::test]
async fn damaged_code_is_compiled_again_and_said() {
    let project = Project::started_before().await;
    for path in code(&cache(&project)) {
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        std::fs::write(&path, bytes).unwrap();
    }
    let dev = Dev::start(project).await;
    let answer = dev.pleat(&["call", "probe", r#"{"do":"echo","value":"still here"}"#]).await.ok();
    assert_eq!(answer.stdout, "still here\n");
    let log = dev.project().log();
    assert!(log.contains("compiled code was altered or is damaged; it will be compiled again"), "{log}");
    assert!(log.contains("compiling a version again from its source"), "{log}");
}

#[tokio::test]
async fn another_engines_code_is_made_again_in_the_background_and_kept_for_a_while() {
    let project = Project::started_before().await;
    let current = cache(&project);
    let versions = code(&current);
    assert!(versions.len() >= 4, "three examples and the probe: {versions:?}");
    // As after an upgrade: what is there was compiled by an engine with another name.
    let (recent, ancient) = (current.with_file_name("0123456789abcdef"), current.with_file_name("fedcba9876543210"));
    std::fs::rename(&current, &recent).unwrap();
    std::fs::create_dir(&ancient).unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(31 * 24 * 60 * 60);
    std::fs::File::create(ancient.join("used")).unwrap().set_modified(long_ago).unwrap();
    // Beside other tests it would otherwise be the last to get anything of the machine.
    let mut server = Server::spawn_dev_with(project, &[("PLEAT_RUNTIME_RECOMPILE_NICE", "0")]);
    let done = |project: &Project| project.log().contains("versions were compiled again for this engine").then_some(());
    server.until("line that says that all is compiled", done).await;
    let log = server.project.log();
    assert!(log.contains("compiling versions again for this engine, in the background"), "{log}");
    assert!(log.contains("failed=0"), "{log}");
    // What the platform makes for itself in the background may be there now and not have been before.
    let made = code(&current);
    assert!(versions.iter().all(|version| made.contains(version)), "all of them are there: {made:?} {versions:?}");
    assert_eq!(code(&recent).len(), versions.len(), "the old ones stay for a way back");
    assert!(!ancient.exists(), "those that nobody used for long do not");
}

#[tokio::test]
async fn files_of_deploys_that_failed_and_of_versions_that_are_gone_are_removed() {
    let (server, runtime, directory) = TestServer::start_alone().await;
    server.deploy_echo().await;
    let files = || {
        let names = |place: std::path::PathBuf| {
            let entries = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap());
            entries.filter(|entry| entry.path().is_file()).map(|entry| entry.file_name().into_string().unwrap())
        };
        let cache = std::fs::read_dir(directory.path().join("cache")).unwrap().next().unwrap().unwrap().path();
        let all = names(directory.path().join("artefacts")).chain(names(cache));
        all.filter(|name| name.len() > 64).collect::<std::collections::BTreeSet<_>>()
    };
    let before = files();
    assert_eq!(before.len(), 3, "a source, its code, and the code's MAC: {before:?}");
    let unfit = crate::harness::answering(&serde_json::json!({ "description": "x", "input": { "type": 7 } }), "1");
    let (status, refused) = server.try_deploy("f.wat", unfit, "&name=unfit").await;
    assert_eq!(status, 422, "{refused}");
    assert_eq!(files(), before, "a deploy that failed leaves nothing");
    // As by a node that was killed in the middle of a deploy.
    let source = pleat_runtime::Source {
        language: pleat_runtime::Language::ComponentText,
        file_name: "lost.wat".to_owned(),
        bytes: crate::harness::answering(&serde_json::json!({ "description": "lost" }), "1").into(),
    };
    runtime.prepare(&source, pleat_runtime::Party(7)).await.unwrap();
    assert!(files().len() > before.len());
    assert_eq!(server.engine.tidy(std::time::Duration::from_secs(3_600)).await.unwrap(), 0, "it may be under way");
    assert!(server.engine.tidy(std::time::Duration::ZERO).await.unwrap() > 0);
    assert_eq!(files(), before);
    assert_eq!(server.http(&server.invoke, "echo", serde_json::json!(1)).await.0, 200);
}
