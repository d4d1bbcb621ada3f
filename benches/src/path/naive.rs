//! The path that anybody would write first: the task is inserted, updated when it begins and updated when it ends,
//! each in a transaction of its own, over a pool. The guest and the columns are the same; keys are not even checked.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use pleat_domain::{CallLimits, json};
use pleat_runtime::{Call, Entry, Function, GuestContext, Language, Outcome, Party, Runtime, Silent, Source};
use sqlx::PgPool;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::platform::{Platform, echo};

const INSERT: &str = "\
INSERT INTO bench.naive (tenant_id, id, skill, version, caller, door, state, input, attempt, turn, last_seq, cpu_us, \
wall_us, created_at, updated_at, lease_owner, lease_epoch) \
VALUES ($1, $2, 'echo', 1, 'key:0123456789ab', 'http', 0, $3::json, 1, 1, 0, 0, 0, now(), now(), $1, 1)";

const BEGIN: &str = "UPDATE bench.naive SET state = 1, updated_at = now() WHERE tenant_id = $1 AND id = $2";

const END: &str = "\
UPDATE bench.naive SET state = 4, artifacts = $3::json, cpu_us = 20, wall_us = 20, updated_at = now() \
WHERE tenant_id = $1 AND id = $2";

pub(super) struct Naive {
    pub(super) address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
}

#[derive(Clone)]
struct Parts {
    runtime: Runtime,
    function: Arc<Function>,
    tenant: Uuid,
    pool: PgPool,
}

impl Naive {
    pub(super) async fn start(platform: &Platform, pool: PgPool) -> anyhow::Result<Self> {
        let source = Source { language: Language::Component, file_name: "echo.wasm".to_owned(), bytes: echo()?.into() };
        let function = platform.runtime.load(&source.version(), Party::default()).await?;
        let parts = Parts { runtime: platform.runtime.clone(), function, tenant: platform.tenant.id.as_uuid(), pool };
        let router = Router::new().route("/echo", post(call)).with_state(parts);
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let told = stop.clone();
        let serving =
            tokio::spawn(
                async move { axum::serve(listener, router).with_graceful_shutdown(told.cancelled_owned()).await },
            );
        Ok(Self { address, stop, serving })
    }

    pub(super) async fn stop(self) -> anyhow::Result<()> {
        self.stop.cancel();
        Ok(self.serving.await??)
    }
}

async fn call(State(parts): State<Parts>, input: String) -> Result<String, StatusCode> {
    parts.run(input).await.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

impl Parts {
    async fn run(&self, text: String) -> anyhow::Result<String> {
        let input = json::checked(text)?;
        let id = Uuid::now_v7();
        sqlx::query(INSERT).bind(self.tenant).bind(id).bind(input.get()).execute(&self.pool).await?;
        sqlx::query(BEGIN).bind(self.tenant).bind(id).execute(&self.pool).await?;
        let call = Call {
            party: Party::default(),
            function: Arc::clone(&self.function),
            entry: Entry::Handle { input },
            context: context(id),
            limits: CallLimits::DEFAULT,
            memory: Arc::new(self.runtime.memory().of(0).call()),
            host: Box::new(Silent),
            cancel: CancellationToken::new(),
        };
        let result = self.runtime.call(call).await.result.ok().context("the call failed")?;
        let Outcome::Value(value) = result else { anyhow::bail!("no value came back") };
        let artifacts = format!(r#"[{{"name":"echo-result","value":{}}}]"#, value.get());
        sqlx::query(END).bind(self.tenant).bind(id).bind(artifacts).execute(&self.pool).await?;
        Ok(value.get().to_owned())
    }
}

fn context(id: Uuid) -> GuestContext {
    GuestContext {
        task_id: format!("task_{}", id.simple()),
        context_id: format!("ctx_{}", id.simple()),
        skill: "echo".to_owned(),
        version: "1".to_owned(),
        caller: "key:0123456789ab".to_owned(),
        door: "http".to_owned(),
        attempt: 1,
        turn: 1,
    }
}
