//! The parent's side of compiling: one child process per source, under limits, because wasmtime promises nothing about
//! hostile input while it compiles (63 kB of nested blocks can cost 800 MB).

pub(crate) mod child;
pub(crate) mod descriptors;
mod line;
mod prepass;
mod protocol;
mod spent;

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::{OnceCell, Semaphore};

use self::line::Line;
use self::protocol::{Fault, Job, Kept, Own, Request};
use self::spent::{Metered, Spent};
use crate::artefacts::CodeFiles;
use crate::config::CompileLimits;
use crate::error::{PrepareError, RuntimeError};
use crate::gate::Party;
use crate::guests::all_but_one;
use crate::sandbox::{SandboxMode, SandboxReport};
use crate::snapshot::{Functions, Instrumented, KeptFile, SnapshotError, Stripper};
use crate::source::{Language, Source};
use crate::text;

/// The largest answer that is read: code is about three times as large as the component it came from.
const ANSWER: u64 = 512 << 20;
const COMPLAINTS: u64 = 16 << 10;
/// How many threads the compiler's pool has; the only variable that a child is given.
pub(crate) const THREADS_VARIABLE: &str = "RAYON_NUM_THREADS";

/// For whom something is compiled, and so how it stands to the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Who deploys waits for it, and pays for it.
    Deploy(Party),
    /// A call waits for it, because this node lacks the code.
    Load(Party),
    /// The platform itself: somebody waits for what scripts have in common.
    Own,
    /// Nobody waits: it gives way to everything else on the machine.
    Background,
}

/// How often a compilation in the background looks whether it may begin.
const LOOK: Duration = Duration::from_millis(100);

pub(crate) struct Compiler {
    command: Vec<OsString>,
    limits: CompileLimits,
    line: Line,
    /// What nobody waits for must not hold a place that somebody does.
    background: Semaphore,
    spent: Spent,
    sandbox: SandboxMode,
    code: Arc<CodeFiles>,
    /// Where the script engine is kept compiled, once it is.
    script_engine: OnceCell<KeptFile>,
    /// Its functions, once they are; scripts do not wait for them.
    functions: OnceCell<KeptFile>,
    types: OnceCell<KeptFile>,
}

impl Compiler {
    pub(crate) fn new(
        command: Vec<OsString>,
        limits: CompileLimits,
        sandbox: SandboxMode,
        code: Arc<CodeFiles>,
    ) -> Self {
        Self {
            command,
            limits,
            sandbox,
            code,
            line: Line::new(&limits),
            background: Semaphore::new(1),
            spent: Spent::default(),
            script_engine: OnceCell::new(),
            functions: OnceCell::new(),
            types: OnceCell::new(),
        }
    }

    /// How many compile, and how many wait to.
    pub(crate) fn used(&self) -> (usize, usize) {
        self.line.used()
    }

    /// The CPU time of deploys since this was last asked, by who made them.
    pub(crate) fn take_spent(&self) -> HashMap<Party, Duration> {
        self.spent.take()
    }

    /// Native code for the engine of [`crate::machine`].
    pub(crate) async fn compile(&self, source: &Source, purpose: Purpose) -> Result<Vec<u8>, PrepareError> {
        let language = source.language;
        let mut kept = Kept::default();
        if language.is_script() {
            kept.script_engine = Some(self.script_engine().await?.clone());
            kept.functions = self.functions.get().cloned();
        }
        // A bundle may have TypeScript in it.
        if matches!(language, Language::TypeScript | Language::Bundle) {
            kept.types = Some(self.types().await?.clone());
        }
        let file_name = source.file_name.clone();
        self.run(Job::Compile { language, file_name, kept }, &source.bytes, purpose).await
    }

    /// Does now what the first script would wait for, and then what makes later ones quicker.
    pub(crate) async fn warm_up(&self) -> Result<(), PrepareError> {
        self.script_engine().await?;
        self.quiet().await;
        let kept = Kept { script_engine: Some(self.script_engine().await?.clone()), ..Kept::default() };
        self.functions.get_or_try_init(|| self.kept(Own::Functions, kept, Purpose::Background)).await.map(drop)
    }

    /// Starts a child that tries to leave its sandbox.
    pub(crate) async fn self_test(&self) -> Result<SandboxReport, PrepareError> {
        let report = self.attempt(Job::SelfTest, &[], Purpose::Own).await?;
        serde_json::from_slice(&report).map_err(|error| broken(&format!("its report cannot be read: {error}")))
    }

    /// The compiled script engine, made by a child of its own that is given nothing of a tenant's.
    async fn script_engine(&self) -> Result<&KeptFile, PrepareError> {
        self.script_engine.get_or_try_init(|| self.kept(Own::ScriptEngine, Kept::default(), Purpose::Own)).await
    }

    /// The same for what reads TypeScript.
    async fn types(&self) -> Result<&KeptFile, PrepareError> {
        self.types.get_or_try_init(|| self.kept(Own::Types, Kept::default(), Purpose::Own)).await
    }

    /// From the cache, where its MAC is right, or compiled.
    async fn kept(&self, what: Own, kept: Kept, purpose: Purpose) -> Result<KeptFile, PrepareError> {
        let code = Arc::clone(&self.code);
        let (name, found) = blocking(move || {
            let name = what.file_name()?;
            let found = code.digest(&name).map(|digest| KeptFile { path: code.path(&name), digest });
            Ok::<_, SnapshotError>((name, found))
        })
        .await?
        .map_err(|error| broken(&error.to_string()))?;
        if let Some(found) = found {
            return Ok(found);
        }
        let made = self.run(Job::Keep { what, kept }, &[], purpose).await?;
        let code = Arc::clone(&self.code);
        let written = blocking(move || {
            code.write(&name, &made)?;
            Ok(KeptFile { path: code.path(&name), digest: hex::encode(Sha256::digest(&made)) })
        });
        written.await?.map_err(|error: std::io::Error| broken(&format!("compiled code cannot be kept: {error}")))
    }

    /// Returns when nothing is being compiled. A compilation that somebody waits for may still begin at once.
    pub(crate) async fn quiet(&self) {
        while !self.line.is_quiet() {
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn run(&self, job: Job, bytes: &[u8], purpose: Purpose) -> Result<Vec<u8>, PrepareError> {
        let began = Instant::now();
        let made = self.attempt(job, bytes, purpose).await;
        let result = if made.is_ok() { "ok" } else { "error" };
        metrics::histogram!("pleat_compile_seconds", "result" => result).record(began.elapsed().as_secs_f64());
        made
    }

    async fn attempt(&self, job: Job, bytes: &[u8], purpose: Purpose) -> Result<Vec<u8>, PrepareError> {
        let (_place, _alone) = match purpose {
            Purpose::Deploy(party) | Purpose::Load(party) => (Some(self.line.enter(party).await?), None),
            Purpose::Own => (Some(self.line.enter(Party::default()).await?), None),
            Purpose::Background => {
                (None, Some(self.background.acquire().await.map_err(|_| broken("the compiler is closed"))?))
            }
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        // What the platform compiles for itself it compiles at its first start, when there is nobody to be felt by.
        let threads = if purpose == Purpose::Own { processors } else { all_but_one(processors) };
        // Nobody waits in the background, and to get little of a busy machine is what it is for.
        let patience = match purpose {
            Purpose::Background => Duration::MAX,
            _ => self.limits.wall,
        };
        let payer = match purpose {
            Purpose::Deploy(party) => Some((&self.spent, party)),
            _ => None,
        };
        let child = self.spawn(threads)?;
        if purpose == Purpose::Background {
            give_way(&child, self.limits.background_nice);
        }
        let request = Request::new(job, bytes.len(), &self.limits, self.sandbox);
        let mut metered = Metered::new(child, payer);
        let Ok(answer) = tokio::time::timeout(patience, converse(&mut metered, &request, bytes)).await else {
            metered.kill().await;
            return Err(PrepareError::Starved);
        };
        answer
    }

    fn spawn(&self, threads: usize) -> Result<Child, PrepareError> {
        let (program, arguments) = self.command.split_first().ok_or_else(|| broken("no compiler is configured"))?;
        Command::new(program)
            .args(arguments)
            // Nothing of ours, no key and no address, is within reach of what compiles tenants' code.
            .env_clear()
            .env(THREADS_VARIABLE, threads.to_string())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| broken(&format!("it cannot be started: {error}")))
    }
}

impl Own {
    fn file_name(self) -> Result<String, SnapshotError> {
        match self {
            Self::ScriptEngine => Instrumented::file_name(),
            Self::Functions => Functions::file_name(),
            Self::Types => Stripper::file_name(),
        }
    }
}

/// Files are read and checked off the threads that must not wait.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, PrepareError> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.map_err(|error| RuntimeError::Threads(std::io::Error::other(error)).into())
}

/// Where this is not allowed, it runs like any other.
fn give_way(child: &Child, nice: i32) {
    // Without a process this would be about ourselves.
    if let Some(process) = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::setpriority_process(Some(process), nice);
    }
}

async fn converse(metered: &mut Metered<'_>, request: &Request, bytes: &[u8]) -> Result<Vec<u8>, PrepareError> {
    let child = &mut metered.child;
    let (Some(mut input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(broken("its pipes are missing"));
    };
    let ask = async move {
        // A child that dies early closes the pipe; its exit status says more than the error here.
        let _ = protocol::write(&mut input, request, bytes).await;
        let _ = input.shutdown().await;
    };
    let ((), answer, complaints) = tokio::join!(ask, capped(output, ANSWER), capped(errors, COMPLAINTS));
    metered.note();
    let status = metered.child.wait().await.map_err(|error| broken(&format!("it was lost: {error}")))?;
    let complaints = String::from_utf8_lossy(&complaints);
    if !status.success() {
        return Err(died(status, &complaints));
    }
    match protocol::parse(answer) {
        Some((None, code)) => Ok(code),
        Some((Some(fault), _)) => Err(fault.into()),
        None => Err(broken("its answer is not complete")),
    }
}

/// Reads to the end and keeps the beginning, so that the writer never blocks.
async fn capped(mut stream: impl AsyncRead + Unpin, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // An error ends the stream like its end does; the answer is then incomplete, and that is noticed.
    let _ = (&mut stream).take(most).read_to_end(&mut bytes).await;
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    bytes
}

/// What the way it died says: limits kill by signal.
fn died(status: ExitStatus, complaints: &str) -> PrepareError {
    const OUT_OF_MEMORY: [&str; 3] =
        ["memory allocation of", "Cannot allocate memory", "Resource temporarily unavailable"];
    match status.signal() {
        _ if OUT_OF_MEMORY.iter().any(|sign| complaints.contains(sign)) => PrepareError::OutOfMemory,
        Some(libc::SIGXCPU) => PrepareError::TimedOut,
        Some(libc::SIGKILL) => PrepareError::OutOfMemory,
        Some(libc::SIGSEGV | libc::SIGBUS) => too_deep(),
        Some(libc::SIGSYS) => broken("its sandbox stopped it at a system call that no compilation needs"),
        _ if complaints.contains("overflowed its stack") => too_deep(),
        _ => {
            // For the log of whoever runs the platform: a `Child` error is never shown to a deployer.
            broken(&format!("it ended with {status}: {}", text::cut(complaints, 2_000)))
        }
    }
}

fn too_deep() -> PrepareError {
    PrepareError::TooComplex { message: "the source is nested too deep to be compiled".to_owned() }
}

fn broken(message: &str) -> PrepareError {
    PrepareError::Child { message: message.to_owned() }
}

impl From<Fault> for PrepareError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Invalid { message } => Self::Invalid { message },
            Fault::Script { message } => Self::Script { message },
            Fault::TooComplex { message } => Self::TooComplex { message },
            Fault::OutOfMemory => Self::OutOfMemory,
            Fault::TimedOut => Self::TimedOut,
            Fault::Internal { message } => Self::Child { message },
        }
    }
}
