//! Where a tool is missing, the answer names it and how to get it.

use std::os::unix::fs::PermissionsExt;

use super::Desk;
use crate::harness::binary::run;

const NOWHERE: &str = "/nonexistent";

#[tokio::test]
async fn python_without_componentize_py_is_told_how_to_install_it() {
    let desk = Desk::at("http://127.0.0.1:1", "");
    desk.pleat("", &["init", "-t", "python", "counter"]).await.ok();
    let mut deploy = desk.command("counter", &["deploy"]);
    let ran = run(deploy.env("PATH", NOWHERE)).await.failed(1);
    ran.says(&["could not deploy `./counter.py`", "`componentize-py` is not installed", "pip install componentize-py"]);
}

#[tokio::test]
async fn rust_without_cargo_or_its_target_is_told_what_to_add() {
    let desk = Desk::at("http://127.0.0.1:1", "");
    desk.pleat("", &["init", "-t", "rust", "counter"]).await.ok();
    let mut deploy = desk.command("counter", &["deploy"]);
    run(deploy.env("PATH", NOWHERE)).await.failed(1).says(&["`cargo` is not installed", "https://rustup.rs"]);

    // A toolchain that lacks the target's library.
    let rustc = desk.write("tools/rustc", "#!/bin/sh\necho /nonexistent/lib\n");
    std::fs::set_permissions(&rustc, PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", desk.path("tools").display(), std::env::var("PATH").unwrap());
    let mut deploy = desk.command("counter", &["deploy"]);
    let ran = run(deploy.env("PATH", path)).await.failed(1);
    ran.says(&["the Rust target `wasm32-wasip2` is not installed", "rustup target add wasm32-wasip2"]);
}

#[tokio::test]
async fn a_crate_that_is_no_function_is_refused_with_the_reason() {
    let desk = Desk::at("http://127.0.0.1:1", "");
    desk.write("plain/Cargo.toml", "[package]\nname = \"plain\"\nedition = \"2024\"\n\n[workspace]\n");
    desk.write("plain/src/lib.rs", "");
    desk.pleat("plain", &["deploy"]).await.failed(2).says(&["there is no function in `.`"]);
    let library =
        "[package]\nname = \"plain\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\npleat-function = \"1\"\n";
    desk.write("plain/Cargo.toml", library);
    desk.pleat("plain", &["deploy"]).await.failed(1).says(&["is not the crate of a function", "`cdylib`"]);
}
