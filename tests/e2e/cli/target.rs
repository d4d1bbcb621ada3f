//! Which server and which key: flags, environment, or the `pleat dev` of this directory or a parent.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tokio::process::Command;

use crate::cli::Tenant;
use crate::harness::binary::{Ran, command, run};
use crate::harness::dev::Dev;

async fn with(command: &mut Command, environment: &[(&str, &str)]) -> Ran {
    run(command.envs(environment.iter().copied())).await
}

#[tokio::test]
async fn the_server_is_found_from_a_directory_below() {
    let dev = Dev::shared().await;
    let below = dev.project().path.join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    assert!(run(&mut command(&below, &["list"])).await.ok().stdout.contains("hello "));
    let data_dir = dev.project().data_dir().display().to_string();
    let named = run(&mut command(Path::new("/"), &["list", "--data-dir", &data_dir])).await.ok();
    assert!(named.stdout.contains("hello "));
    let named = with(&mut command(Path::new("/"), &["list"]), &[("PLEAT_DATA_DIR", &data_dir)]).await.ok();
    assert!(named.stdout.contains("hello "));
}

#[tokio::test]
async fn without_a_server_the_way_to_one_is_shown() {
    let empty = tempfile::tempdir().unwrap();
    for arguments in [&["list"][..], &["call", "hello"], &["tenants", "list"], &["card"], &["logs", "-f"]] {
        let ran = run(&mut command(empty.path(), arguments)).await.failed(1);
        ran.says(&["error: no server is known", "hint: start one with `pleat dev`, or set PLEAT_URL and PLEAT_KEY"]);
    }
    let unreachable =
        run(&mut command(empty.path(), &["list", "--url", "http://127.0.0.1:1", "--tenant", "acme"])).await;
    unreachable.failed(1).says(&["cannot reach the server at http://127.0.0.1:1", "refused", "hint: is it running?"]);
}

#[tokio::test]
async fn server_and_key_come_from_the_environment_and_flags_win() {
    let tenant = Tenant::with_probe("target-env").await;
    let elsewhere = tempfile::tempdir().unwrap();
    let list = async |arguments: &[&str], environment: &[(&str, &str)]| {
        let arguments: Vec<&str> = ["list", "--json"].iter().chain(arguments).copied().collect();
        with(&mut command(elsewhere.path(), &arguments), environment).await
    };
    let url = tenant.dev.url();
    let from_environment = list(&[], &[("PLEAT_URL", url), ("PLEAT_KEY", &tenant.key)]).await.ok().json();
    assert_eq!(from_environment["functions"][0]["name"], "probe");
    let wrong = [("PLEAT_URL", "http://127.0.0.1:1"), ("PLEAT_KEY", "x")];
    let flags = list(&["--url", url, "--key", &tenant.key], &wrong).await.ok().json();
    assert_eq!(flags, from_environment);
    // An empty variable is none.
    let empty = list(&["--url", url], &[("PLEAT_KEY", "")]).await.failed(2);
    empty.says(&["pass --tenant (PLEAT_TENANT) or --key (PLEAT_KEY)"]);
}

#[tokio::test]
async fn a_key_of_one_tenant_opens_no_other() {
    let tenant = Tenant::with_probe("target-own").await;
    let other = Tenant::with_probe("target-other").await;
    let unknown = tenant.pleat(&["list", "--tenant", "target-nobody"]).await.failed(1);
    let theirs = tenant.pleat(&["list", "--tenant", &other.slug]).await.failed(1);
    assert_eq!(theirs.stderr, unknown.stderr, "another's tenant and none are told apart");
    let demo = tenant.dev.pleat(&["list", "--tenant", &other.slug]).await.failed(2);
    demo.says(&["holds keys of the tenant `demo` only", "hint: pass a key of `target-other`"]);
}

#[tokio::test]
async fn what_cannot_be_a_server_or_a_key_is_refused_before_anything_is_sent() {
    let tenant = Tenant::new("target-bad").await;
    for url in ["localhost:8787", "ftp://127.0.0.1", "nonsense"] {
        tenant.pleat(&["list", "--url", url]).await.failed(2).says(&[&format!("`{url}` is no server URL"), "hint: "]);
    }
    let cut = &tenant.key[..tenant.key.len() - 3];
    let ran = tenant.pleat(&["list", "--key", cut]).await.failed(2).says(&["hint: copy it again, whole"]);
    assert!(!ran.stderr.contains(cut), "{ran:?}");
    tenant.pleat(&["list", "--tenant", "Not A Name"]).await.failed(2).says(&["`Not A Name` names no tenant"]);
}

#[tokio::test]
async fn a_dev_json_that_others_can_read_is_not_trusted() {
    let dev = Dev::shared().await;
    let planted = tempfile::tempdir().unwrap();
    std::fs::create_dir(planted.path().join(".pleat")).unwrap();
    let file = planted.path().join(".pleat/dev.json");
    std::fs::copy(dev.project().dev_file(), &file).unwrap();
    run(&mut command(planted.path(), &["list"])).await.ok();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = run(&mut command(planted.path(), &["list"])).await.failed(1);
    ran.says(&["is open to other users, so it is not trusted", "hint: "]);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&file, Some(65_534), None).unwrap();
        let ran = run(&mut command(planted.path(), &["list"])).await.failed(1);
        ran.says(&["belongs to another user, so it is not trusted", "hint: "]);
        std::os::unix::fs::chown(&file, Some(0), None).unwrap();
    }
    std::fs::write(&file, "{").unwrap();
    run(&mut command(planted.path(), &["list"])).await.failed(1).says(&["cannot read `", "dev.json`"]);
}
