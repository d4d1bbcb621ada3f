//! `pleat dev` asks before it runs or follows what a directory brings.

use std::path::Path;

use crate::harness::binary::{Ran, command, run};
use crate::harness::project::{Project, write};

/// Ends at once in any case: its data directory is a file. What is asked is asked before.
async fn dev(project: &Project, state: &Path, more: &[&str]) -> Ran {
    let file = write(&project.path, "a-file", "");
    let arguments = [&["dev", "--listen", "127.0.0.1:0", "--data-dir", &file], more].concat();
    let mut command = command(&project.path, &arguments);
    run(command.env("XDG_STATE_HOME", state)).await
}

#[tokio::test]
async fn a_directory_with_settings_a_crate_or_a_tool_of_its_own_needs_trust_once() {
    let cases: [(&str, &[(&str, &str)]); 3] = [
        ("pleat.toml", &[("pleat.toml", "")]),
        ("Cargo.toml", &[("Cargo.toml", "[package]\nname = \"x\"\n[dependencies]\npleat-function = \"1\"\n")]),
        ("componentize-py", &[("f.py", "@pleat.function\ndef f(x):\n  pass\n"), (".venv/bin/componentize-py", "")]),
    ];
    for (named, files) in cases {
        let (project, state) = (Project::new(), tempfile::tempdir().unwrap());
        std::fs::create_dir_all(project.path.join(".venv/bin")).unwrap();
        for (file, text) in files {
            write(&project.path, file, text);
        }
        dev(&project, state.path(), &[]).await.failed(2).says(&[named, "--trust"]);
        for (what, more) in [("trusted", &["--trust"][..]), ("remembered", &[])] {
            let ran = dev(&project, state.path(), more).await;
            assert!(ran.code != 0 && !ran.stderr.contains("--trust"), "{named}: {what}: {ran:?}");
        }
        let copy = Project::new();
        std::fs::create_dir_all(copy.path.join(".venv/bin")).unwrap();
        for (file, text) in files {
            write(&copy.path, file, text);
        }
        dev(&copy, state.path(), &[]).await.failed(2).says(&["--trust"]);
    }
}

#[tokio::test]
async fn a_directory_of_scripts_needs_no_trust() {
    let (project, state) = (Project::new(), tempfile::tempdir().unwrap());
    write(&project.path, "hello.js", "export const description = 'x';\nexport default () => 1;\n");
    write(&project.path, "package.json", "{}");
    let ran = dev(&project, state.path(), &[]).await;
    assert!(!ran.stderr.contains("--trust"), "{ran:?}");
}
