//! Telling the other nodes that something has changed, and hearing it from them.
//!
//! A notice is only ever a reason to look: what is true is in the tables, and whoever waits for a notice looks by
//! itself once a second too. Notices are sent after the commit, in a transaction of their own and on a connection of
//! their own, because `NOTIFY` inside the writing transaction would serialise all commits; and those about tasks are
//! sent only while another node lives.

mod line;
mod listen;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pleat_domain::{SessionId, TaskId, TenantId, TenantSlug};
use sqlx::postgres::PgConnectOptions;
use sqlx::{PgConnection, PgPool};
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connect::{self, Role};
use crate::error::StoreError;
use crate::node::Lease;

/// How often at most this node sends.
const INTERVAL: Duration = Duration::from_millis(15);
/// Notices that a slow listener may be behind; further behind it is told to look at everything.
const BACKLOG: usize = 1024;
const CHANNEL: &str = "pleat";

/// Something that another node has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wake {
    /// These tasks have new events, or another state.
    Tasks(Vec<TaskId>),
    /// Somebody asks for the end of these tasks.
    Cancels(Vec<TaskId>),
    /// What this tenant has deployed, or what its functions are given.
    Catalog(TenantId),
    Key(String),
    /// This session has ended, or another than before.
    Session(SessionId),
    /// This tenant is gone, or another than before.
    Tenant(TenantId, TenantSlug),
    /// A node has left tasks behind.
    Sweep,
    /// Notices may have been missed: anything may have changed.
    Look,
}

/// One node's end of the line.
pub(crate) struct Bell {
    lease: Arc<Lease>,
    pending: Mutex<Pending>,
    rung: Notify,
    heard: broadcast::Sender<Wake>,
}

#[derive(Default)]
struct Pending {
    tasks: HashSet<TaskId>,
    others: Vec<Wake>,
    /// This node has just begun to listen.
    hello: bool,
}

impl Bell {
    pub(crate) fn start(
        options: &PgConnectOptions,
        lease: &Arc<Lease>,
        tracker: &TaskTracker,
        stop: &CancellationToken,
    ) -> Arc<Self> {
        let bell = Arc::new(Self {
            lease: Arc::clone(lease),
            pending: Mutex::default(),
            rung: Notify::new(),
            heard: broadcast::Sender::new(BACKLOG),
        });
        tracker.spawn(Arc::clone(&bell).send_loop(options.clone(), stop.clone()));
        tracker.spawn(listen::run(Arc::clone(&bell), options.clone(), stop.clone()));
        bell
    }

    /// What the other nodes say from now on.
    pub(crate) fn heard(&self) -> broadcast::Receiver<Wake> {
        self.heard.subscribe()
    }

    /// To be called after the commit, with the tasks that others may be following.
    pub(crate) fn changed(&self, tasks: impl Iterator<Item = TaskId>) {
        if self.lease.others() == 0 {
            return;
        }
        self.pend(|pending| pending.tasks.extend(tasks));
    }

    /// For what is rare and must not be missed: sent whether or not another node is known.
    pub(crate) fn announce(&self, wake: Wake) {
        self.pend(|pending| pending.others.push(wake));
    }

    fn greet(&self) {
        self.pend(|pending| pending.hello = true);
    }

    fn pend(&self, change: impl FnOnce(&mut Pending)) {
        change(&mut self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        self.rung.notify_one();
    }

    fn take(&self) -> Vec<String> {
        let Pending { tasks, others, hello } =
            std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        let node = self.lease.node();
        let mut lines = line::write(node, &tasks.into_iter().collect::<Vec<_>>(), &others);
        lines.extend(hello.then(|| line::hello(node)));
        lines
    }

    async fn send_loop(self: Arc<Self>, options: PgConnectOptions, stop: CancellationToken) {
        let mut connection = None;
        while stop.run_until_cancelled(self.rung.notified()).await.is_some() {
            let lines = self.take();
            if let Err(error) = send(&mut connection, &options, &lines).await {
                // Nothing is lost: who waits looks by itself.
                tracing::debug!(error = &error as &dyn std::error::Error, "other nodes could not be told");
                connection = None;
            }
            if stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await.is_none() {
                break;
            }
        }
    }

    /// The last word of a node that leaves.
    pub(crate) async fn say_farewell(&self, pool: &PgPool) -> Result<(), StoreError> {
        self.announce(Wake::Sweep);
        notify(&mut *pool.acquire().await?, &self.take()).await
    }
}

async fn send(
    connection: &mut Option<PgConnection>,
    options: &PgConnectOptions,
    lines: &[String],
) -> Result<(), StoreError> {
    if lines.is_empty() {
        return Ok(());
    }
    if connection.is_none() {
        *connection = Some(connect::single(options, Role::Writer).await?);
    }
    match connection {
        Some(connection) => notify(connection, lines).await,
        None => Ok(()),
    }
}

async fn notify(connection: &mut PgConnection, lines: &[String]) -> Result<(), StoreError> {
    sqlx::query("SELECT pg_notify($1, line) FROM UNNEST($2::text[]) AS line")
        .bind(CHANNEL)
        .bind(lines)
        .execute(connection)
        .await?;
    Ok(())
}
