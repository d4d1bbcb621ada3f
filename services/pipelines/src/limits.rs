//! What a pipeline may be at most. Everything that a document or a run can make large has its bound here.

use std::time::Duration;

use pleat_domain::limits::{KIB, MIB};

/// The text of a definition.
pub const TEXT: usize = 256 * KIB;
/// Values in a definition, those that an alias stands for included.
pub const VALUES: usize = 20_000;
/// How deep a definition may nest.
pub const DEPTH: usize = 64;
pub const DESCRIPTION: usize = 4 * KIB;
pub const STEPS: usize = 100;
/// Steps that may run side by side.
pub const GROUP: usize = 16;
/// How many pipelines a call may lead through, the first one included.
pub const NESTING: usize = pleat_domain::limits::CALL_DEPTH as usize;
/// A condition or a reference.
pub const EXPRESSION: usize = 2 * KIB;
/// Parentheses and `not` within one another.
pub const EXPRESSION_DEPTH: usize = 32;
pub const ATTEMPTS: u32 = 10;
pub const TIMEOUT: Duration = Duration::from_secs(15 * 60);
pub const BACKOFF: Duration = Duration::from_secs(60 * 60);
/// Items of one fan-out, where the step does not say.
pub const ITEMS: u32 = 100;
pub const ITEMS_MOST: u32 = 1_000;
/// Items of one fan-out that run at once, where the step does not say.
pub const CONCURRENCY: u32 = 4;
pub const CONCURRENCY_MOST: u32 = 16;
/// What a mapping may put together: as much as a function may answer, so that an answer can always be passed on.
pub const MAPPED: usize = 8 * MIB;
/// Attempts at one call that may be lost with their node before the run gives up.
pub const LOSSES: u32 = 3;
/// Faults that are reported; the rest is counted.
pub const FAULTS: usize = 100;
