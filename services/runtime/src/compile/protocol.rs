//! What parent and compile child say to each other: a length, a JSON header, and bytes.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::config::CompileLimits;
use crate::sandbox::SandboxMode;
use crate::snapshot::KeptFile;
use crate::source::Language;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) job: Job,
    /// Of the bytes that follow.
    pub(super) size: usize,
    pub(super) memory_bytes: u64,
    pub(super) cpu_seconds: u64,
    pub(super) sandbox: SandboxMode,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum Job {
    /// Compile a component of our own. Comes without a tenant's bytes, because the result is trusted from then on.
    Keep { what: Own, kept: Kept },
    /// Compile the bytes that follow.
    Compile { language: Language, file_name: String, kept: Kept },
    /// Try to leave the sandbox, and answer with a report as JSON.
    SelfTest,
}

/// What of the platform's own is at hand for a compilation.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) script_engine: Option<KeptFile>,
    pub(super) functions: Option<KeptFile>,
    pub(super) types: Option<KeptFile>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Own {
    ScriptEngine,
    /// The script engine's functions, as every script has them.
    Functions,
    /// What takes the types out of TypeScript.
    Types,
}

impl Request {
    pub(super) fn new(job: Job, size: usize, limits: &CompileLimits, sandbox: SandboxMode) -> Self {
        let cpu_seconds = limits.cpu.as_secs().max(1);
        Self { job, size, memory_bytes: limits.memory_bytes as u64, cpu_seconds, sandbox }
    }
}

/// Why there is no code. The words are for the deployer, except in `Internal`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Fault {
    Invalid { message: String },
    Script { message: String },
    TooComplex { message: String },
    OutOfMemory,
    TimedOut,
    Internal { message: String },
}

#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    size: usize,
    fault: Option<Fault>,
}

pub(super) async fn write(stream: &mut (impl AsyncWrite + Unpin), request: &Request, bytes: &[u8]) -> io::Result<()> {
    let header = serde_json::to_vec(request)?;
    stream.write_all(&length(&header)).await?;
    stream.write_all(&header).await?;
    stream.write_all(bytes).await
}

/// The child's side: the whole request.
pub(super) fn read(stream: &mut impl Read) -> io::Result<(Request, Vec<u8>)> {
    let mut prefix = [0; 4];
    stream.read_exact(&mut prefix)?;
    let mut header = vec![0; u32::from_le_bytes(prefix) as usize];
    stream.read_exact(&mut header)?;
    let request: Request = serde_json::from_slice(&header)?;
    let mut bytes = vec![0; request.size];
    stream.read_exact(&mut bytes)?;
    Ok((request, bytes))
}

/// The child's side: the whole answer.
pub(super) fn answer(stream: &mut impl Write, result: &Result<Vec<u8>, Fault>) -> io::Result<()> {
    let (code, fault) = match result {
        Ok(code) => (code.as_slice(), None),
        Err(fault) => (&[][..], Some(fault.clone())),
    };
    let header = serde_json::to_vec(&Answer { size: code.len(), fault })?;
    stream.write_all(&length(&header))?;
    stream.write_all(&header)?;
    stream.write_all(code)?;
    stream.flush()
}

/// The parent's side; nothing if the answer is cut short.
pub(super) fn parse(mut bytes: Vec<u8>) -> Option<(Option<Fault>, Vec<u8>)> {
    let prefix: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    let end = (u32::from_le_bytes(prefix) as usize).checked_add(4)?;
    let answer: Answer = serde_json::from_slice(bytes.get(4..end)?).ok()?;
    bytes.drain(..end);
    (bytes.len() == answer.size).then_some((answer.fault, bytes))
}

fn length(header: &[u8]) -> [u8; 4] {
    u32::try_from(header.len()).unwrap_or(u32::MAX).to_le_bytes()
}
