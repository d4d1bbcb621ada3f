//! Compiling: a tenant that deploys bombs waits for its own turns, pays for them, and holds nobody else up.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use futures::future::join_all;
use pleat_domain::{Plan, PlanName, Plans};
use pleat_runtime::Runtime;
use reqwest::{Method, Response};
use serde_json::json;

use super::{FREE, PATIENCE, Refusal, most};
use crate::harness::{TestServer, fixture, read};

/// The CPU time after which a bomb is stopped.
const FUSE: Duration = Duration::from_secs(1);

/// A component that takes longer to compile than it may, each number another.
fn bomb(number: usize) -> Vec<u8> {
    let text = String::from_utf8(fixture("minimal.wat")).unwrap();
    let functions = format!("(func (result i32) i32.const {number})").repeat(30_000);
    text.replace(";;; functions\n", &format!("{functions}\n")).into_bytes()
}

async fn deploy(server: &TestServer, tenant: &str, key: &str, source: Vec<u8>) -> Response {
    let url = format!("{}/api/v1/tenants/{tenant}/functions?fileName=f.wat&name=f", server.url);
    let request = server.client.post(url).bearer_auth(key).timeout(4 * PATIENCE).body(source);
    request.send().await.unwrap()
}

/// Waits until so many are being compiled or wait for it.
async fn until_lined_up(runtime: &Runtime, count: usize) {
    let began = Instant::now();
    loop {
        let now = runtime.occupancy();
        if now.compiling + now.compile_waiting == count {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{now:?}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn bombs_of_one_tenant_do_not_keep_another_from_deploying() {
    let (server, runtime, _directory) =
        TestServer::start_compiling(|compile| compile.cpu = FUSE, |config| config.plans = Plans::generous()).await;
    let other = server.other_tenant("other").await;
    let exploded = AtomicUsize::new(0);
    let bombs = join_all((0..5).map(|number| {
        let (server, exploded) = (&server, &exploded);
        async move {
            let answer = read(deploy(server, "acme", &server.deploy, bomb(number)).await).await;
            exploded.fetch_add(1, Relaxed);
            answer
        }
    }));
    let honest = async {
        until_lined_up(&runtime, 5).await;
        let answer = read(deploy(&server, "other", &other, fixture("minimal.wat")).await).await;
        (answer, exploded.load(Relaxed))
    };
    let (bombs, (honest, before)) = tokio::join!(bombs, honest);
    assert_eq!(honest.0, 201, "{honest:?}");
    assert!(before <= 1, "the honest tenant waited for {before} bombs");
    for (status, refused) in bombs {
        assert_eq!(status, 422, "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains("took too long"), "{refused}");
    }
    let (_, usage) = server.api(Method::GET, "/tenants/acme/usage?skill=(compiling)", &server.read, None).await;
    let spent = usage["total"]["cpuMs"].as_f64().unwrap();
    assert!(spent >= 5.0 * 0.9 * FUSE.as_millis() as f64, "{usage}");
    assert_eq!(usage["total"]["calls"], 0);
}

#[tokio::test]
async fn who_deploys_bombs_uses_up_its_own_cpu_time() {
    let plan = Plan { cpu_ms_per_day: most(500), ..FREE };
    let adjust = |config: &mut pleat_engine::EngineConfig| config.plans.insert(PlanName::standard(), plan);
    let (server, _runtime, _directory) = TestServer::start_compiling(|compile| compile.cpu = FUSE, adjust).await;
    assert_eq!(deploy(&server, "acme", &server.deploy, bomb(0)).await.status(), 422);
    let refusal = Refusal::of(deploy(&server, "acme", &server.deploy, fixture("minimal.wat")).await).await;
    refusal.is_limit("cpu_ms_per_day", 500, 24 * 60 * 60);
    let other = server.other_tenant("other").await;
    assert_eq!(deploy(&server, "other", &other, fixture("minimal.wat")).await.status(), 201);
}

#[tokio::test]
async fn the_line_has_an_end_and_no_tenant_fills_it_alone() {
    let limits = |compile: &mut pleat_runtime::CompileLimits| {
        // Long enough that the first still compiles when the others have been uploaded, on a busy machine too.
        (compile.concurrency, compile.queue, compile.cpu) = (1, 2, 4 * FUSE);
    };
    let (server, runtime, _directory) =
        TestServer::start_compiling(limits, |config| config.plans = Plans::generous()).await;
    let other = server.other_tenant("other").await;
    let bombs = async {
        tokio::join!(deploy(&server, "acme", &server.deploy, bomb(0)), deploy(&server, "acme", &server.deploy, bomb(1)),)
    };
    let late = async {
        // One compiles, one waits in acme's half of the line.
        until_lined_up(&runtime, 2).await;
        let refusal = Refusal::of(deploy(&server, "acme", &server.deploy, bomb(2)).await).await;
        let waits = deploy(&server, "other", &other, fixture("minimal.wat"));
        (refusal, waits.await.status())
    };
    let (_, (refusal, waited)) = tokio::join!(bombs, late);
    assert_eq!((refusal.status, refusal.retry_after), (503, Some(1)), "{refusal:?}");
    assert_eq!(refusal.details, json!({ "limit": "compile queue", "retryAfterMs": 1_000 }));
    assert_eq!(waited, 201);
}
