//! `pleat dev` deploys what is saved in its directory, says what came of it, and leaves everything else alone.

use std::time::Instant;

use serde_json::Value;

use crate::harness::binary::{command, run};
use crate::harness::dev::{Dev, Server};
use crate::harness::project::Project;

fn greeting(word: &str) -> String {
    format!("export const description = 'Greets';\nexport default (input) => `{word}, ${{input.name}}!`;\n")
}

impl Dev {
    fn save(&self, name: &str, text: &str) {
        std::fs::write(self.project().path.join(name), text).unwrap();
    }

    /// Waits until the server has said this.
    async fn said(&mut self, words: &str) {
        self.server.until(words, |project| project.log().contains(words).then_some(())).await;
    }

    async fn greets(&self, function: &str) -> String {
        self.pleat(&["call", function, r#"{"name":"Ada"}"#]).await.ok().stdout.trim_end().to_owned()
    }

    async fn deployed(&self) -> Vec<String> {
        let list = self.pleat(&["list", "--json"]).await.ok().json();
        let names = list["functions"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned());
        names.filter(|name| !["countdown", "hello", "probe", "weather-lookup"].contains(&name.as_str())).collect()
    }
}

#[tokio::test]
async fn a_saved_pipeline_is_deployed_after_what_it_calls() {
    let mut dev = Dev::start(Project::started_before().await).await;
    let pipeline = "name: polite\nsteps: [{id: a, tool_name: courteous, input_mapping: {name: $input.name}}]\n";
    dev.save("a.pipeline.yaml", pipeline);
    dev.said("error: a.pipeline.yaml was not deployed").await;
    dev.said("there is no skill `courteous`").await;
    dev.save("courteous.js", &greeting("Good day"));
    dev.said("a.pipeline.yaml: pipeline:polite v1 deployed in").await;
    assert_eq!(dev.greets("pipeline:polite").await, "Good day, Ada!");
    dev.save("a.pipeline.yaml", &format!("{pipeline}output: {{said: $steps.a}}\n"));
    dev.said("a.pipeline.yaml: pipeline:polite v2 deployed in").await;
    assert_eq!(dev.greets("pipeline:polite").await, r#"{"said":"Good day, Ada!"}"#);
    // An edit that waits for a function is deployed once that is there, as a new file is.
    dev.save("a.pipeline.yaml", &pipeline.replace("courteous", "solemn"));
    dev.said("there is no skill `solemn`").await;
    dev.save("solemn.js", &greeting("Greetings"));
    dev.said("a.pipeline.yaml: pipeline:polite v3 deployed in").await;
    assert_eq!(dev.greets("pipeline:polite").await, "Greetings, Ada!");
    std::fs::remove_file(dev.project().path.join("a.pipeline.yaml")).unwrap();
    dev.said("`pipeline:polite` stays deployed: `pleat pipeline archive polite`").await;
}

#[tokio::test]
async fn a_saved_function_is_deployed_and_a_broken_one_is_shown_and_changes_nothing() {
    let project = Project::started_before().await;
    std::fs::write(project.path.join("early.js"), greeting("Early")).unwrap();
    let mut dev = Dev::start(project).await;
    dev.said("early.js: early v1 deployed in").await;
    assert_eq!(dev.greets("early").await, "Early, Ada!");

    dev.save("greet.js", &greeting("Hello"));
    dev.said("greet.js: greet v1 deployed in").await;
    assert_eq!(dev.greets("greet").await, "Hello, Ada!");

    let saved = Instant::now();
    dev.save("greet.js", &greeting("Welcome"));
    dev.said("greet.js: greet v2 deployed in").await;
    assert_eq!(dev.greets("greet").await, "Welcome, Ada!");
    println!("saved to answered anew: {:?}", saved.elapsed());

    dev.save("greet.js", "export const description = 'Greets';\nexport default (input) => {\n  let let = 1;\n};\n");
    dev.said("error: greet.js was not deployed").await;
    dev.said("greet.js:3:").await;
    assert_eq!(dev.greets("greet").await, "Welcome, Ada!", "a bad deploy changes nothing");
    dev.save("greet.js", &greeting("Again"));
    dev.said("greet.js: greet v3 deployed in").await;

    // It was a function, so its author is told why it is none any more.
    dev.save("greet.js", "export const description = 'no default';\n");
    dev.server
        .until("second error", |project| (project.log().matches("was not deployed").count() == 2).then_some(()))
        .await;

    dev.save(
        "asks.js",
        "export const capabilities = { keyValue: true };\nexport default (input, ctx) => ctx.kv.increment('n');\n",
    );
    dev.said("asks.js: it asks for more than it was granted; to allow it: pleat deploy asks.js --grant kv").await;

    std::fs::remove_file(dev.project().path.join("early.js")).unwrap();
    dev.said("early.js is gone; `early` stays deployed: `pleat delete early`").await;
    assert_eq!(dev.greets("early").await, "Early, Ada!");
    assert_eq!(dev.deployed().await, ["asks", "early", "greet"]);
}

#[tokio::test]
async fn what_does_not_look_like_a_function_is_left_alone() {
    let mut dev = Dev::start(Project::started_before().await).await;
    dev.save("eslint.config.js", &greeting("Config"));
    dev.save("greet.test.js", &greeting("Test"));
    dev.save(".hidden.js", &greeting("Hidden"));
    dev.save("bundle.js", "export default {};\n");
    dev.save("library.js", "export const description = 'x';\nexport const input = 1;\n");
    dev.save("core.wasm", "\0asm\u{1}\0\0\0");
    std::fs::create_dir_all(dev.project().path.join("node_modules")).unwrap();
    dev.save("node_modules/inner.js", &greeting("Inner"));
    // Looked at in the order of their names, so the others have been passed over when this one is deployed.
    dev.save("zebra.js", &greeting("Zebra"));
    dev.said("zebra.js: zebra v1 deployed in").await;
    assert_eq!(dev.deployed().await, ["zebra"]);
    let (project, status, _) = dev.stop("TERM").await;
    assert!(status.success());

    // The same file is no new version at the next start.
    let mut again = Dev::start(project).await;
    again.said("zebra.js: zebra v1 unchanged").await;
    let versions: Value = again.pleat(&["versions", "zebra", "--json"]).await.ok().json();
    assert_eq!(versions["versions"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn another_directory_is_watched_or_none() {
    let project = Project::started_before().await;
    std::fs::write(project.path.join("here.js"), greeting("Here")).unwrap();
    std::fs::create_dir(project.path.join("functions")).unwrap();
    std::fs::write(project.path.join("functions/there.js"), greeting("There")).unwrap();
    let arguments = ["dev", "--listen", "127.0.0.1:0", "--watch", "functions"];
    let mut server = Server::spawn(project, &arguments, &[]);
    server.until("there", |project| project.log().contains("there.js: there v1 deployed").then_some(())).await;
    assert!(!server.project.log().contains("here.js: here"), "{}", server.project.log());
    server.signal("TERM");
    let (project, ..) = server.ended().await;

    let both = run(&mut command(&project.path, &["dev", "--watch", ".", "--no-watch"])).await.failed(2);
    both.says(&["--watch", "--no-watch"]);
    let missing = run(&mut command(&project.path, &["dev", "--watch", "missing"])).await.failed(1);
    missing.says(&["cannot read `missing`", "No such file"]);
}
