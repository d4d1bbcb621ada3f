//! `pleat deploy`: what becomes a function, and how the rest is refused.

use crate::cli::Tenant;
use crate::harness::root;

const GREET: &str = "\
export const description = 'Greets';
export const input = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
export default async function (input) {
  return `Hello, ${input.name}!`;
}
";

#[tokio::test]
async fn a_deployed_script_is_called_and_only_its_address_is_data() {
    let tenant = Tenant::new("deploy-script").await;
    let file = tenant.file("greet.js", GREET);
    let deployed = tenant.pleat(&["deploy", &file]).await.ok();
    assert_eq!(deployed.stdout, format!("greet v1 {}\n", tenant.url("/greet")));
    let deployed = deployed.says(&["deploying", "deployed in", "listed", "try it: pleat call greet"]);
    assert!(!deployed.stderr.contains(&tenant.key));
    let called = tenant.pleat(&["call", "greet", r#"{"name":"Ada"}"#]).await.ok();
    assert_eq!((called.stdout.as_str(), called.stderr.as_str()), ("Hello, Ada!\n", ""));
    let again = tenant.pleat(&["deploy", &file]).await.ok().says(&["unchanged"]);
    assert_eq!(again.stdout, deployed.stdout);

    let violation = tenant.pleat(&["call", "greet", r#"{"name":5}"#]).await.failed(1);
    violation.says(&["error: the input does not match the skill's schema", "`/name`"]);
}

#[tokio::test]
async fn several_files_and_names_of_ones_own() {
    let tenant = Tenant::new("deploy-names").await;
    let (one, two) = (tenant.minimal("one.wat", "ok"), tenant.minimal("two.wat", "ok"));
    let deployed = tenant.pleat(&["deploy", &one, &two]).await.ok();
    assert_eq!(deployed.stdout, format!("one v1 {}\ntwo v1 {}\n", tenant.url("/one"), tenant.url("/two")));
    tenant.pleat(&["deploy", &one, "--name", "three"]).await.ok();
    tenant.pleat(&["deploy", &one, &two, "--name", "four"]).await.failed(2).says(&["--name fits one file only"]);
    let bad = tenant.pleat(&["deploy", &one, "--name", "Bad Name"]).await.failed(2);
    bad.says(&["Bad Name"]);
    let reserved = tenant.pleat(&["deploy", &one, "--name", "healthz"]).await.failed(2);
    reserved.says(&["healthz"]);
    let list = tenant.pleat(&["list", "--json"]).await.ok().json();
    let names: Vec<&str> = list["functions"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["one", "three", "two"]);
}

#[tokio::test]
async fn a_syntax_error_is_shown_where_it_is_and_nothing_is_deployed() {
    let tenant = Tenant::new("deploy-syntax").await;
    let file = tenant.file(
        "broken.js",
        "export const description = 'x';\n\nexport default function (input) {\n  return input.;\n}\n",
    );
    let ran = tenant.pleat(&["deploy", &file]).await.failed(1);
    ran.says(&["error: could not deploy `", "broken.js:4:", "SyntaxError", "return input.;"]);
    let thrown = tenant.file("thrown.js", "export default () => 1;\nthrow new TypeError('at load');\n");
    let ran = tenant.pleat(&["deploy", &thrown]).await.failed(1);
    ran.says(&["thrown.js:2", "TypeError", "at load"]);
    let list = tenant.pleat(&["list"]).await.ok().says(&["nothing is deployed yet"]);
    assert_eq!(list.stdout, "");
}

#[tokio::test]
async fn what_is_no_function_is_refused_with_the_reason() {
    let tenant = Tenant::new("deploy-refused").await;
    let core = root().join("tests/fixtures/core-module.wat").display().to_string();
    tenant.pleat(&["deploy", &core]).await.failed(1).says(&[
        "error: could not deploy",
        "core WebAssembly module",
        "wasm32-wasip2",
    ]);
    let world = root().join("tests/fixtures/wrong-world.wat").display().to_string();
    tenant.pleat(&["deploy", &world]).await.failed(1).says(&["error: could not deploy", "caused by: "]);
    let empty = tenant.file("empty.js", "");
    tenant.pleat(&["deploy", &empty]).await.failed(1).says(&["`empty.js` is empty"]);
    let noise = tenant.file("noise.wasm", "this is no wasm");
    tenant.pleat(&["deploy", &noise]).await.failed(1).says(&["error: could not deploy"]);
    let text = tenant.file("notes.txt", "hello");
    tenant.pleat(&["deploy", &text]).await.failed(2).says(&[
        "cannot tell what",
        "notes.txt",
        "hint: deploy a .js, .ts or .py file",
    ]);
    let missing = tenant.pleat(&["deploy", "missing.js"]).await.failed(1);
    missing.says(&[
        "could not deploy `missing.js`",
        "cannot read `missing.js`",
        "No such file",
        "hint: check the path",
    ]);
    let list = tenant.pleat(&["list", "--json"]).await.ok().json();
    assert_eq!(list, serde_json::json!({ "functions": [] }));
}

#[tokio::test]
async fn a_function_is_seen_by_those_it_is_meant_for() {
    let tenant = Tenant::new("deploy-seen").await;
    for (name, flag) in [("open", Some("--public")), ("plain", None), ("hidden", Some("--unlisted"))] {
        let file = tenant.minimal(&format!("{name}.wat"), "ok");
        let arguments: Vec<&str> = ["deploy", &file].into_iter().chain(flag).collect();
        tenant.pleat(&arguments).await.ok();
    }
    let list = tenant.pleat(&["list", "--json"]).await.ok().json();
    let seen: Vec<(&str, &str)> = list["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["name"].as_str().unwrap(), it["visibility"].as_str().unwrap()))
        .collect();
    assert_eq!(seen, [("hidden", "unlisted"), ("open", "public"), ("plain", "listed")]);
    let card = tenant.pleat(&["card", "--json"]).await.ok().json();
    let skills: Vec<&str> = card["skills"].as_array().unwrap().iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(skills, ["open", "plain"]);
    // The demo server holds no key of this tenant, so this is nobody calling.
    let nobody = async |name: &str| tenant.dev.pleat(&["call", name, "--tenant", "deploy-seen"]).await;
    assert_eq!(nobody("open").await.ok().stdout, "ok\n");
    nobody("plain").await.failed(1).says(&["valid key"]);
    nobody("hidden").await.failed(1);
}

#[tokio::test]
async fn a_grant_that_is_not_served_is_refused() {
    let tenant = Tenant::new("deploy-grant").await;
    let file = tenant.minimal("one.wat", "ok");
    let ran = tenant.pleat(&["deploy", &file, "--grant", "host:example.com"]).await.failed(1);
    ran.says(&["`host:example.com` cannot be granted"]);
    tenant.pleat(&["call", "one"]).await.failed(1).says(&["unknown skill `one`"]);
}
