//! Every limit in one place, with its default and the most that an operator may set.

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub const KIB: usize = 1 << 10;
pub const MIB: usize = 1 << 20;

pub const JSON_DEPTH: usize = 64;
/// A tree takes up to 80 times the memory of its text; this bounds it.
pub const JSON_VALUES: usize = 250_000;
pub const REQUEST_BODY: usize = 4 * MIB;
pub const REQUEST_BODY_MOST: usize = 32 * MIB;
pub const COMPONENT_UPLOAD: usize = 32 * MIB;
pub const SCRIPT_UPLOAD: usize = MIB;
/// A script of several files, as a document: escaping makes text longer.
pub const BUNDLE_UPLOAD: usize = 4 * MIB;
pub const BUNDLE_FILES: usize = 256;
pub const CALL_DEPTH: u32 = 8;
/// Tables of a component, all taken together.
pub const TABLE_ELEMENTS: usize = 20_000;
/// What a function's failure, stack trace included, may be long.
pub const FAILURE_TEXT: usize = 8 * KIB;
/// Calls and requests of one guest that are worked on at the same time; further ones wait their turn.
pub const PENDING_AT_ONCE: usize = 16;
/// Calls and requests that one guest has started and not dropped yet.
pub const PENDING_HELD: usize = 256;
/// The value of a secret or a setting.
pub const SETTING_VALUE: usize = 64 * KIB;
/// Secrets of one tenant; settings are counted apart.
pub const SETTINGS: usize = 200;
pub const KEY_VALUE_KEY: usize = 512;
pub const KEY_VALUE_VALUE: usize = 64 * KIB;
/// Keys, values and 64 bytes for each entry, over all of a tenant.
pub const KEY_VALUE_TENANT: usize = 64 * MIB;
/// Keys listed at once.
pub const KEY_VALUE_PAGE: u32 = 1_000;
/// Secrets, settings, hosts and skills that one function may ask for, each.
pub const CAPABILITIES: usize = 100;
/// Push configurations of one task.
pub const PUSHES: usize = 10;
pub const PUSH_ID: usize = 256;
pub const PUSH_TOKEN: usize = 1_024;
pub const PUSH_SCHEME: usize = 64;
pub const PUSH_CREDENTIALS: usize = 4 * KIB;

/// What one call may use. `DEFAULT` where nothing is asked for; a manifest may ask for up to `MOST`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct CallLimits {
    pub cpu_ms: u64,
    pub wall_ms: u64,
    /// All memories of the component together.
    pub memory_bytes: usize,
    pub output_bytes: usize,
    pub event_bytes: usize,
    pub events: usize,
    pub log_bytes: usize,
    pub log_line_bytes: usize,
    /// Uses of configuration, secrets, key-value, calls, HTTP and the conversation together.
    pub host_calls: usize,
    /// What crosses in these, both ways.
    pub host_bytes: usize,
}

impl CallLimits {
    pub const DEFAULT: Self = Self {
        cpu_ms: 1_000,
        wall_ms: 30_000,
        memory_bytes: 64 * MIB,
        output_bytes: 8 * MIB,
        event_bytes: 256 * KIB,
        events: 10_000,
        log_bytes: 256 * KIB,
        log_line_bytes: 8 * KIB,
        host_calls: 10_000,
        host_bytes: 64 * MIB,
    };

    pub const MOST: Self = Self {
        cpu_ms: 30_000,
        wall_ms: 15 * 60_000,
        memory_bytes: 256 * MIB,
        output_bytes: 64 * MIB,
        event_bytes: 256 * KIB,
        events: 10_000,
        log_bytes: 256 * KIB,
        log_line_bytes: 8 * KIB,
        host_calls: 100_000,
        host_bytes: 256 * MIB,
    };

    /// The name of the first limit that exceeds `MOST`.
    pub fn exceeds_most(&self) -> Option<&'static str> {
        let rows = [
            ("cpuMs", self.cpu_ms > Self::MOST.cpu_ms),
            ("wallMs", self.wall_ms > Self::MOST.wall_ms),
            ("memoryBytes", self.memory_bytes > Self::MOST.memory_bytes),
            ("outputBytes", self.output_bytes > Self::MOST.output_bytes),
            ("eventBytes", self.event_bytes > Self::MOST.event_bytes),
            ("events", self.events > Self::MOST.events),
            ("logBytes", self.log_bytes > Self::MOST.log_bytes),
            ("logLineBytes", self.log_line_bytes > Self::MOST.log_line_bytes),
            ("hostCalls", self.host_calls > Self::MOST.host_calls),
            ("hostBytes", self.host_bytes > Self::MOST.host_bytes),
        ];
        rows.into_iter().find_map(|(name, exceeds)| exceeds.then_some(name))
    }

    pub const fn cpu(&self) -> Duration {
        Duration::from_millis(self.cpu_ms)
    }

    pub const fn wall(&self) -> Duration {
        Duration::from_millis(self.wall_ms)
    }
}

impl Default for CallLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
