//! `output.emit` and `output.progress`: each is one event of the task, and events are counted.

use pleat_bindings::output::{self, EmitError};
use pleat_domain::event::Progress;
use pleat_domain::json;

use crate::host_calls::{Chunk, ChunkBody};
use crate::outcome;
use crate::state::State;
use crate::text;

const ARTIFACT_NAME: usize = 200;
const PROGRESS_NOTE: usize = 1 << 10;
/// A guest that goes on emitting after it was told to stop this many times is stopped.
const REFUSALS: usize = 10_000;

/// The guest would not take no for an answer.
#[derive(Debug, thiserror::Error)]
#[error("the guest kept emitting after its events were used up")]
pub(crate) struct Excess;

impl output::Host for State {
    async fn emit(
        &mut self,
        chunk: output::Chunk,
        artifact: Option<String>,
        last: bool,
    ) -> wasmtime::Result<Result<(), EmitError>> {
        self.take_printed();
        if self.events.left == 0 {
            self.events.refused += 1;
            return if self.events.refused > REFUSALS { Err(Excess.into()) } else { Ok(Err(EmitError::TooMany)) };
        }
        let size = size(&chunk);
        if size > self.events.bytes {
            return Ok(Err(EmitError::TooLarge));
        }
        let chunk = match checked(chunk, artifact, last) {
            Ok(chunk) => chunk,
            Err(fault) => return Ok(Err(EmitError::Invalid(fault))),
        };
        self.events.left -= 1;
        // The platform keeps every chunk until the call is recorded.
        self.memory.charge(size)?;
        self.host.emit(chunk).await;
        Ok(Ok(()))
    }

    fn progress(&mut self, done: f64, total: Option<f64>, note: Option<String>) -> wasmtime::Result<()> {
        self.take_printed();
        // JSON has no infinity and no NaN.
        if self.events.left == 0 || !done.is_finite() {
            return Ok(());
        }
        self.events.left -= 1;
        let note = note.map(|note| text::escaped(text::cut(&note, PROGRESS_NOTE)).into_owned());
        self.host.progress(Progress { done, total: total.filter(|total| total.is_finite()), note });
        Ok(())
    }
}

fn size(chunk: &output::Chunk) -> usize {
    match chunk {
        output::Chunk::Text(text) | output::Chunk::Data(text) | output::Chunk::Blocks(text) => text.len(),
    }
}

fn checked(chunk: output::Chunk, artifact: Option<String>, last: bool) -> Result<Chunk, String> {
    if let Some(name) = &artifact
        && (name.is_empty() || name.len() > ARTIFACT_NAME || name.chars().any(char::is_control))
    {
        return Err(format!("an artifact's name has 1 to {ARTIFACT_NAME} bytes and no control characters"));
    }
    let body = match chunk {
        output::Chunk::Text(text) => ChunkBody::Text(text),
        output::Chunk::Data(text) => {
            ChunkBody::Data(json::checked(text).map_err(|fault| format!("the data is {fault}"))?)
        }
        output::Chunk::Blocks(text) => ChunkBody::Blocks(outcome::blocks(&text)?),
    };
    Ok(Chunk { artifact, body, last })
}
