//! `pleat init`, and `pleat deploy` in what it made.

use serde_json::json;

use super::Desk;
use crate::harness::binary::run;

async fn greets(desk: &Desk, function: &str) {
    assert_eq!(desk.functions().await, [function]);
    assert_eq!(desk.call(function, &json!({ "name": "Ada" })).await, json!({ "greeting": "Hello, Ada!" }));
    let refused = desk.pleat("", &["call", function, "{}"]).await.failed(1);
    refused.says(&["the input does not match the skill's schema", "name"]);
    let logged = desk.pleat("", &["logs", function]).await.ok();
    assert!(logged.stdout.contains("greeting Ada"), "{logged:?}");
}

#[tokio::test]
async fn a_javascript_function_is_made_deployed_and_called() {
    let desk = Desk::new("init-js").await;
    let made = desk.pleat("", &["init", "greeter"]).await.ok();
    let names = ["greeter/.gitignore", "greeter/README.md", "greeter/greeter.js", "greeter/pleat.d.ts"];
    assert_eq!(made.stdout.lines().collect::<Vec<_>>(), names);
    made.says(&["made the function `greeter`", "cd greeter && pleat deploy && pleat call greeter"]);
    let readme = std::fs::read_to_string(desk.path("greeter/README.md")).unwrap();
    assert!(readme.contains("pleat call greeter") && !readme.contains("my-function"), "{readme}");
    let deployed = desk.pleat("greeter", &["deploy"]).await.ok();
    assert!(deployed.stdout.starts_with("greeter v1 "), "{deployed:?}");
    greets(&desk, "greeter").await;
}

#[tokio::test]
async fn a_typescript_function_is_made_deployed_and_called() {
    let desk = Desk::new("init-ts").await;
    let made = desk.pleat("", &["init", "-t", "ts", "typed"]).await.ok();
    assert!(made.stdout.lines().any(|line| line == "typed/typed.ts"), "{made:?}");
    let deployed = desk.pleat("typed", &["deploy"]).await.ok();
    assert!(deployed.stdout.starts_with("typed v1 "), "{deployed:?}");
    greets(&desk, "typed").await;
}

#[tokio::test]
async fn a_rust_function_is_made_built_deployed_and_called() {
    let desk = Desk::new("init-rust").await;
    desk.pleat("", &["init", "-t", "rust", "crate", "--name", "rust-greeter"]).await.ok();
    let mut deploy = desk.command("crate", &["deploy"]);
    // Kept between runs: what a crate depends on is built once.
    deploy.env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/templates"));
    let deployed = run(&mut deploy).await.ok().says(&["building", "with cargo"]);
    assert!(deployed.stdout.starts_with("rust-greeter v1 "), "{deployed:?}");
    greets(&desk, "rust-greeter").await;

    desk.write("crate/src/lib.rs", "fn broken( {}\n");
    let broken = run(&mut deploy).await.failed(1);
    broken.says(&["`cargo build` failed", "src/lib.rs:1"]);
}

#[tokio::test]
async fn what_is_there_is_named_and_never_overwritten() {
    let desk = Desk::at("http://127.0.0.1:1", "");
    desk.write("mine/README.md", "mine");
    desk.write("mine/hello.js", "mine too");
    let refused = desk.pleat("mine", &["init", "--name", "hello"]).await.failed(1);
    refused.says(&["nothing was made", "README.md", "hello.js", "hint: choose another directory"]);
    assert_eq!(std::fs::read_to_string(desk.path("mine/README.md")).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(desk.path("mine")).unwrap().count(), 2);
}

#[tokio::test]
async fn the_name_is_the_one_given_the_directorys_or_hello() {
    let desk = Desk::at("http://127.0.0.1:1", "");
    let named = async |arguments: &[&str]| {
        let made = desk.pleat("", &[&["init", "--json"], arguments].concat()).await.ok().json();
        assert!(made["files"].as_array().unwrap().len() >= 4, "{made}");
        made["name"].as_str().unwrap().to_owned()
    };
    assert_eq!(named(&["one", "--name", "other"]).await, "other");
    assert_eq!(named(&["Two"]).await, "two");
    assert_eq!(named(&["not a name"]).await, "hello");
    assert_eq!(named(&["api", "-t", "python"]).await, "hello", "reserved");
    assert!(desk.path("api/pleat-sdk/pleat/__init__.py").is_file(), "the SDK, for editors and tests");
    desk.pleat("", &["init", "--name", "Not A Name"]).await.failed(2);
}

#[tokio::test]
async fn only_functions_of_a_directory_are_deployed() {
    let desk = Desk::new("deploy-directory").await;
    desk.write("site/vite.config.js", "export const description = 'x';\nexport default {};\n");
    desk.write("site/settings.js", "export default { description: 'of no function' };\n");
    desk.write("site/library.js", "export const input = 1;\n");
    desk.write("site/notes.txt", "export default");
    desk.write("site/nested/deep.js", "export const description = 'deep';\nexport default () => 1;\n");
    let none = desk.pleat("site", &["deploy"]).await.failed(2);
    none.says(&["there is no function in `.`", "pleat init"]);
    desk.write("site/one.js", "export const description = 'one';\nexport default () => 1;\n");
    desk.write("site/two.mjs", "export const tags = ['x'];\nexport default () => 2;\n");
    desk.pleat("", &["deploy", "site"]).await.ok();
    assert_eq!(desk.functions().await, ["one", "two"]);
    desk.pleat("site", &["deploy", "--name", "three"]).await.failed(2).says(&["--name fits one file only"]);
}
