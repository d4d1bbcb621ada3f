//! `pleat version` and `pleat completions`.

use crate::harness::project::Project;

#[tokio::test]
async fn version_says_what_was_built() {
    let project = Project::new();
    let version = project.pleat(&["version", "--json"]).await.ok().json();
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    for name in ["commit", "profile", "target", "rustc"] {
        assert!(version[name].as_str().is_some_and(|text| !text.is_empty()), "{name}: {version}");
    }
    let short = project.pleat(&["--version"]).await.ok();
    assert_eq!(short.stdout.trim(), format!("pleat {}", env!("CARGO_PKG_VERSION")));
    assert!(project.pleat(&["version"]).await.ok().stdout.contains("commit"));
}

#[tokio::test]
async fn completions_of_each_shell_know_the_commands() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = project.pleat(&["completions", shell]).await.ok().stdout;
        for word in ["deploy", "doctor", "--data-dir"] {
            let word = if shell == "fish" { word.trim_start_matches("--") } else { word };
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    let path = project.path.join("completions.bash");
    std::fs::write(&path, project.pleat(&["completions", "bash"]).await.ok().stdout).unwrap();
    let parsed = std::process::Command::new("bash").arg("-n").arg(&path).status().unwrap();
    assert!(parsed.success(), "bash can read it");
    project.pleat(&["completions", "tcsh"]).await.failed(2).says(&["bash", "zsh", "fish"]);
}
