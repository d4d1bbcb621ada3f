//! The bridge: a message a line in, a message a line out. Each message is a request of its own, so that a slow one holds
//! up nothing.

use std::rc::Rc;

use anyhow::Result;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::LocalSet;

use super::line::{Handshake, Line};
use super::relay::Relay;
use crate::commands::Context;
use crate::target::Role;

/// Answers that wait to be written: a client that does not read makes the server wait.
const BACKLOG: usize = 64;

pub async fn run(operators: bool, context: &Context<'_>) -> Result<()> {
    let role = if operators { Role::Deployer } else { Role::Caller };
    let client = context.connect(role)?;
    let url = if operators { client.beside(&["mcp"]) } else { client.door(&["mcp"]).await? };
    let (out, mut lines) = mpsc::channel::<String>(BACKLOG);
    let relay = Rc::new(Relay::new(client, url, out));
    let local = LocalSet::new();
    let reading = local.run_until(async {
        let reader = Rc::clone(&relay);
        let mut reading = tokio::task::spawn_local(async move { read(reader).await });
        loop {
            tokio::select! {
                biased;
                Some(line) = lines.recv() => context.output.piece(&format!("{line}\n"))?,
                done = &mut reading => return Ok::<_, anyhow::Error>(done?),
            }
        }
    });
    let ended = reading.await?;
    while let Ok(line) = lines.try_recv() {
        context.output.piece(&format!("{line}\n"))?;
    }
    relay.end().await;
    ended
}

/// Until stdin ends, and what was asked is answered, or cannot be any more.
async fn read(relay: Rc<Relay>) -> Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin()).split(b'\n');
    let mut running = tokio::task::JoinSet::new();
    while let Some(bytes) = lines.next_segment().await? {
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let line = match Line::parse(&bytes) {
            Ok(line) => line,
            Err(fault) => {
                relay.refuse(&fault.id, fault.code, &fault.message).await;
                continue;
            }
        };
        // At once: the end of stdin may be read before the answer has gone.
        relay.hear(&line);
        let relay = Rc::clone(&relay);
        // The handshake goes first: what follows needs its session.
        match line.part_of_handshake() {
            Some(part) => {
                relay.pass(line).await;
                if let Handshake::Done = part {
                    running.spawn_local(async move { relay.listen().await });
                }
            }
            None => drop(running.spawn_local(async move { relay.pass(line).await })),
        }
        while running.try_join_next().is_some() {}
    }
    relay.stop_listening();
    while running.join_next().await.is_some() {}
    Ok(())
}
