//! The one configuration file: complete, strict, and under the environment and the flags.

use std::collections::BTreeSet;

use pleat_domain::Plan;
use serde_json::{Value, json};

use crate::harness::binary::{Ran, command, run};
use crate::harness::project::{Project, write};
use crate::harness::root;

async fn config(project: &Project, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
    let mut all = vec!["config"];
    all.extend(arguments);
    run(command(&project.path, &all).envs(environment.iter().copied())).await
}

async fn values(project: &Project, arguments: &[&str], environment: &[(&str, &str)]) -> Value {
    let mut all = vec!["--json"];
    all.extend(arguments);
    config(project, &all, environment).await.ok().json()["values"].take()
}

fn default_file() -> String {
    std::fs::read_to_string(root().join("deploy/pleat.toml")).unwrap()
}

#[tokio::test]
async fn the_committed_file_says_exactly_the_defaults_and_every_key() {
    let project = Project::new();
    let defaults = values(&project, &[], &[]).await;
    // Plans are tables with names of the operator's; the file shows how one is written.
    let settings = defaults.as_object().unwrap().keys().filter(|key| !key.starts_with("plans."));
    let keys: BTreeSet<String> = settings.cloned().collect();
    assert!(keys.len() > 25, "{keys:?}");
    let path = write(&project.path, "copy.toml", &default_file());
    let read = values(&project, &["--config", &path], &[]).await;
    for key in &keys {
        assert_eq!(read[key]["value"], defaults[key]["value"], "{key}");
    }
    let (mut section, mut mentioned) = (String::new(), BTreeSet::new());
    for line in default_file().lines() {
        if line.starts_with("# [plans.") {
            section.clear();
        } else if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.to_owned();
        } else if let Some((name, _)) = line.trim_start_matches("# ").split_once(" = ").filter(|_| !section.is_empty())
        {
            mentioned.insert(format!("{section}.{name}"));
        }
    }
    assert_eq!(keys, mentioned, "the keys there are, and those of deploy/pleat.toml");
    let printed = config(&project, &["--default"], &[]).await.ok().stdout;
    assert_eq!(printed, default_file());
    let page = std::fs::read_to_string(root().join("docs/configuration.md")).unwrap();
    for key in &keys {
        assert!(page.contains(&format!("`{key}`")), "docs/configuration.md does not have `{key}`");
    }
}

#[tokio::test]
async fn flags_win_over_the_environment_and_that_over_the_file() {
    let project = Project::new();
    let text = "[retention]\nhours = 2\n[server]\nhosts = [\"a.example\"]\n[database]\nreaders = 3\n[log]\nformat = \"json\"\n";
    write(&project.path, "pleat.toml", text);
    let environment = [
        ("PLEAT_RETENTION_HOURS", "3"),
        ("PLEAT_DATABASE_WRITERS", "5"),
        ("PLEAT_SERVER_HOSTS", "b, c"),
        ("RUST_LOG", "debug"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"),
        ("PLEAT_PUBLIC_URL", ""),
    ];
    let found = values(&project, &["--retention-hours", "4"], &environment).await;
    let expected = [
        ("retention.hours", json!(4), "flag --retention-hours"),
        ("database.writers", json!(5), "environment PLEAT_DATABASE_WRITERS"),
        ("server.hosts", json!(["b", "c"]), "environment PLEAT_SERVER_HOSTS"),
        ("log.level", json!("debug"), "environment RUST_LOG"),
        ("tracing.endpoint", json!("http://collector:4318"), "environment OTEL_EXPORTER_OTLP_ENDPOINT"),
        ("database.readers", json!(3), "file pleat.toml"),
        ("log.format", json!("json"), "file pleat.toml"),
        ("server.public_url", Value::Null, "default"),
    ];
    for (key, value, source) in expected {
        assert_eq!((&found[key]["value"], &found[key]["source"]), (&value, &json!(source)), "{key}");
    }
    let found = values(&project, &[], &environment).await;
    assert_eq!(found["retention.hours"]["source"], "environment PLEAT_RETENTION_HOURS");
    // Another file takes the place of the one that is here; the environment can name it.
    let other = write(&project.path, "other.toml", "[limits]\nrequest_body_mib = 7\n");
    let found = values(&project, &[], &[("PLEAT_CONFIG", &other)]).await;
    assert_eq!(found["limits.request_body_mib"]["value"], 7);
    assert_eq!(found["database.readers"]["source"], "default");
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused_with_advice() {
    let project = Project::new();
    for (text, words) in [
        ("[retention]\nhour = 2\n", &["no key `retention.hour`", "did you mean `retention.hours`?"][..]),
        ("[server]\nbase_url = \"x\"\n", &["no key `server.base_url`", "hint: "]),
        ("[nonsense]\nzzz = 1\n", &["no key `nonsense.zzz`", "pleat config --default"]),
        ("[retention]\nhours = \"two\"\n", &["`retention.hours`", "a number"]),
        ("[retention]\nhours = 0\n", &["`retention.hours`", "from 1 to 8760"]),
        ("[metrics]\nenabled = 1\n", &["`metrics.enabled`", "`true` or `false`"]),
        ("[cors]\ncontrol = \"https://a.example\"\n", &["`cors.control`", "a list of texts"]),
        ("[log]\nformat = \"xml\"\n", &["xml", "`text` or `json`"]),
        ("[server\n", &["is not TOML", "line 1"]),
    ] {
        let path = write(&project.path, "wrong.toml", text);
        config(&project, &["--config", &path], &[]).await.failed(2).says(words);
    }
    config(&project, &["--config", "nowhere.toml"], &[])
        .await
        .failed(2)
        .says(&["nowhere.toml", "pleat config --default"]);
    let ran = config(&project, &[], &[("PLEAT_DATABASE_READERS", "many")]).await;
    ran.failed(2).says(&["`database.readers` (environment PLEAT_DATABASE_READERS)"]);
    // A server does not start on it either, and leaves nothing behind.
    write(&project.path, "pleat.toml", "[servre]\nlisten = \"127.0.0.1:0\"\n");
    let ran = run(command(&project.path, &["serve"]).env("PLEAT_MASTER_KEY", super::serving::MASTER)).await;
    ran.failed(2).says(&["no key `servre.listen`", "did you mean `server.listen`?"]);
    assert!(!project.data_dir().exists());
}

#[tokio::test]
async fn secrets_are_not_shown() {
    let project = Project::new();
    let environment = [
        ("DATABASE_URL", "postgres://pleat:hunter2@db.example/agents?sslmode=require"),
        ("PLEAT_METRICS_TOKEN", "hunter3"),
        ("PLEAT_MASTER_KEY", super::serving::MASTER),
    ];
    for arguments in [&[][..], &["--json"]] {
        let ran = config(&project, arguments, &environment).await.ok();
        for secret in ["hunter2", "hunter3", super::serving::MASTER] {
            assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{ran:?}");
        }
        assert!(ran.stdout.contains("db.example/agents"), "the place is shown: {ran:?}");
    }
}

#[test]
fn the_committed_file_shows_every_key_of_a_plan() {
    let standard = Plan { request_burst: Some(6_000), ..Plan::STANDARD };
    let file = default_file();
    let lines = file.lines().skip_while(|line| *line != "# [plans.standard]").take_while(|line| line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.strip_prefix("# ")?.split_once(" = "));
    let shown: serde_json::Map<String, Value> =
        pairs.map(|(name, value)| (name.to_owned(), serde_json::from_str(value).unwrap())).collect();
    assert_eq!(Value::Object(shown), serde_json::to_value(standard).unwrap());
}
