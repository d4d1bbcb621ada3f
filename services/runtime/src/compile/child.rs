//! The compile child: reads one request and what the platform keeps for it, limits itself, enters the sandbox, works,
//! answers, ends.
//!
//! It has an empty environment, three pipes and no secrets. From before it looks at a tenant's bytes, it can neither open
//! files nor sockets nor start a process; whatever hostile bytes make of it, it is one process that dies alone.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pleat_domain::{Bundle, CallLimits};
use rustix::process::{Resource, Rlimit, setrlimit};
use wasmtime::CacheStore;

use super::descriptors;
use super::prepass::{self, Unfit};
use super::protocol::{self, Fault, Job, Kept, Own, Request};
use crate::guests::NICENESS;
use crate::machine;
use crate::sandbox::{Sandbox, self_test};
use crate::snapshot::{Functions, Instrumented, KeptCode, KeptFile, SnapshotError, SnapshotLimits, Stripper, snapshot};
use crate::source::Language;

/// Parsers of nested text recurse.
const STACK: usize = 32 << 20;
const OPEN_FILES: u64 = 64;
/// What the top level of a script may use; the same as a call.
const LOADING: SnapshotLimits =
    SnapshotLimits { cpu: Duration::from_millis(CallLimits::DEFAULT.cpu_ms), memory: CallLimits::DEFAULT.memory_bytes };

/// The whole life of the child. The program that [`crate::RuntimeConfig::compiler`] names must end in this.
pub fn compile_child_main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The parent sees an answer that is not complete, and reads this.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> io::Result<()> {
    let descriptors = descriptors::close_inherited()?;
    let (request, bytes) = protocol::read(&mut io::stdin().lock())?;
    restrain(&request)?;
    let (mode, job) = (request.sandbox, request.job);
    if matches!(job, Job::SelfTest) {
        let report = serde_json::to_vec(&self_test(mode, descriptors)?)?;
        return protocol::answer(&mut io::stdout().lock(), &Ok(report));
    }
    let work = Work::open(job);
    // The last moment at which there is one thread, and nothing of a tenant's has been looked at.
    Sandbox::default().enter(mode)?;
    let result = match std::thread::Builder::new().stack_size(STACK).spawn(move || work.perform(&bytes)) {
        Ok(worker) => worker.join().map_err(|_| io::Error::other("the compiler panicked"))?,
        // There was no room for its stack.
        Err(_) => Err(Fault::OutOfMemory),
    };
    protocol::answer(&mut io::stdout().lock(), &result)
}

fn restrain(request: &Request) -> io::Result<()> {
    let limit = |resource, most| setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    limit(Resource::Core, 0)?;
    limit(Resource::Nofile, OPEN_FILES)?;
    limit(Resource::As, request.memory_bytes)?;
    // The soft limit sends SIGXCPU, by which the parent knows; the hard one would be a plain SIGKILL.
    let cpu = request.cpu_seconds;
    // Behind everything that serves: a compiler at work must not be felt by those who call.
    rustix::process::nice(NICENESS)?;
    setrlimit(Resource::Cpu, Rlimit { current: Some(cpu), maximum: Some(cpu + 1) })?;
    Ok(())
}

/// A job, and what the platform keeps for it, read while files can be opened.
struct Work {
    job: Job,
    script_engine: Option<KeptCode>,
    functions: Option<KeptCode>,
    types: Option<KeptCode>,
}

impl Work {
    fn open(mut job: Job) -> Self {
        let kept = match &mut job {
            Job::Keep { kept, .. } | Job::Compile { kept, .. } => std::mem::take(kept),
            Job::SelfTest => Kept::default(),
        };
        let read = |file: Option<KeptFile>| file.as_ref().and_then(KeptFile::read);
        let (script_engine, functions, types) = (read(kept.script_engine), read(kept.functions), read(kept.types));
        Self { job, script_engine, functions, types }
    }

    fn perform(&self, bytes: &[u8]) -> Result<Vec<u8>, Fault> {
        match &self.job {
            Job::Keep { what, .. } => Ok(match what {
                Own::ScriptEngine => Instrumented::make()?,
                Own::Functions => Functions::make(self.script_engine.as_ref(), LOADING)?,
                Own::Types => Stripper::make()?,
            }),
            Job::Compile { language: Language::Component, .. } => compile(bytes, None),
            Job::Compile { language: Language::ComponentText, file_name, .. } => {
                compile(&assemble(bytes, file_name)?, None)
            }
            Job::Compile { language, file_name, .. } => {
                let files = untyped(files(*language, bytes, file_name)?, self.types.as_ref())?;
                let instrumented = Instrumented::open(self.script_engine.as_ref())?;
                compile(&snapshot(&instrumented, &files, LOADING)?, Functions::open(self.functions.as_ref()))
            }
            Job::SelfTest => Err(Fault::Internal { message: "a self-test compiles nothing".to_owned() }),
        }
    }
}

/// The files of a script, the entry first.
fn files(language: Language, bytes: &[u8], file_name: &str) -> Result<Vec<(String, String)>, Fault> {
    if language == Language::Bundle {
        let bundle = Bundle::parse(bytes).map_err(|fault| Fault::Script { message: fault.to_string() })?;
        return Ok(bundle.into_files());
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(vec![(file_name.to_owned(), text.to_owned())]),
        Err(_) => Err(Fault::Script { message: format!("{file_name}: the file is not UTF-8") }),
    }
}

/// The files as JavaScript.
fn untyped(mut files: Vec<(String, String)>, types: Option<&KeptCode>) -> Result<Vec<(String, String)>, Fault> {
    let is_typed = |path: &str| Language::of_file(path) == Some(Language::TypeScript);
    if files.iter().any(|(path, _)| is_typed(path)) {
        let stripper = Stripper::open(types)?;
        for (path, text) in files.iter_mut().filter(|(path, _)| is_typed(path)) {
            *text = stripper.strip(path, text, LOADING)?;
        }
    }
    Ok(files)
}

fn assemble(text: &[u8], file_name: &str) -> Result<Vec<u8>, Fault> {
    let bytes = wat::parse_bytes(text).map_err(|mut error| {
        error.set_path(file_name);
        Fault::Invalid { message: format!("the text is not WebAssembly: {error}") }
    })?;
    Ok(bytes.into_owned())
}

fn compile(component: &[u8], known: Option<Functions>) -> Result<Vec<u8>, Fault> {
    prepass::check(component)?;
    let known = known.map(|known| Arc::new(known) as Arc<dyn CacheStore>);
    let engine = machine::compiling(known).map_err(|error| Fault::Internal { message: format!("{error:#}") })?;
    engine.precompile_component(component).map_err(|error| {
        let out_of_memory = |cause: &(dyn std::error::Error + 'static)| {
            cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::OutOfMemory)
        };
        if error.chain().any(out_of_memory) {
            return Fault::OutOfMemory;
        }
        Fault::Invalid { message: format!("the component is not valid: {error:#}") }
    })
}

impl From<Unfit> for Fault {
    fn from(unfit: Unfit) -> Self {
        match unfit {
            Unfit::Invalid(message) => Self::Invalid { message },
            Unfit::TooComplex(message) => Self::TooComplex { message },
        }
    }
}

impl From<SnapshotError> for Fault {
    fn from(error: SnapshotError) -> Self {
        match error {
            SnapshotError::Script(message) | SnapshotError::Limit(message) => Self::Script { message },
            SnapshotError::Internal(message) => Self::Internal { message },
        }
    }
}
