//! What can go wrong around calls: starting, preparing and loading. What goes wrong inside a call is a
//! `pleat_domain::Failure`.

use std::io;
use std::sync::Arc;

use pleat_domain::VersionHash;

/// The platform's own trouble: an operator reads these.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error("the wasm engine cannot start: {0:#}")]
    Engine(wasmtime::Error),
    #[error("the threads for guests cannot start")]
    Threads(#[source] io::Error),
    #[error("cannot use `{path}` for artefacts; check that it exists and may be written")]
    DataDir {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("the artefact store failed")]
    Artefacts(#[from] object_store::Error),
    #[error("the source of version {0:?} is not in the artefact store; deploy it again")]
    SourceMissing(VersionHash),
    #[error("version {version:?} cannot be compiled again")]
    Recompile {
        version: VersionHash,
        #[source]
        source: Box<PrepareError>,
    },
    #[error("the function cannot be loaded: {0:#}")]
    Load(wasmtime::Error),
    /// Several waited for one loading, and it failed.
    #[error(transparent)]
    Shared(Arc<RuntimeError>),
}

impl RuntimeError {
    /// The version was never compiled here and its source is not here either: another node has it.
    pub fn lacks_source(&self) -> bool {
        match self {
            Self::SourceMissing(_) => true,
            Self::Shared(error) => error.lacks_source(),
            _ => false,
        }
    }

    /// Too much is to be compiled at once: later it may well work.
    pub fn is_busy(&self) -> bool {
        match self {
            Self::Recompile { source, .. } => matches!(**source, PrepareError::Starved | PrepareError::Crowded),
            Self::Shared(error) => error.is_busy(),
            _ => false,
        }
    }
}

/// Why a source cannot become a function. All but `Crowded`, `Starved`, `Platform` and `Child` are the deployer's to
/// mend, and say how.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// Not a component of the right world.
    #[error("{message}")]
    Invalid { message: String },
    /// The script does not load: a syntax error, a throw at the top level, no default export.
    #[error("{message}")]
    Script { message: String },
    #[error("the source has {size} bytes; the most is {most}")]
    TooLarge { size: usize, most: usize },
    /// A count in the component exceeds what is compiled here.
    #[error("{message}")]
    TooComplex { message: String },
    #[error("compiling took too long and was stopped; make the function smaller or split it")]
    TimedOut,
    /// It got too little of the machine, which says nothing about the source.
    #[error("the machine was too busy to compile this in time; try again shortly")]
    Starved,
    /// Others compile, and too many wait, or waited too long.
    #[error("too many functions wait to be compiled; try again shortly")]
    Crowded,
    #[error("compiling needed too much memory and was stopped; make the function smaller or split it")]
    OutOfMemory,
    /// The compiler died or spoke nonsense: ours to mend.
    #[error("the compiler failed: {message}")]
    Child { message: String },
    #[error(transparent)]
    Platform(Box<RuntimeError>),
}

impl PrepareError {
    /// The deployer can mend it.
    pub fn is_callers(&self) -> bool {
        !matches!(self, Self::Crowded | Self::Starved | Self::Child { .. } | Self::Platform(_))
    }
}

impl From<RuntimeError> for PrepareError {
    fn from(error: RuntimeError) -> Self {
        Self::Platform(Box::new(error))
    }
}
