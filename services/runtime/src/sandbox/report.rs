//! Result of the sandbox's self-test: which layers are in force, and what was tried and refused inside.

use serde::{Deserialize, Serialize};

use super::Layers;
use crate::compile::THREADS_VARIABLE;
use crate::compile::descriptors::CLOSED_VARIABLE;

/// What a compile child found when it tried to get out of its sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxReport {
    pub(crate) layers: Layers,
    pub attempts: Vec<Attempt>,
    /// Names of the variables in its environment.
    pub environment: Vec<String>,
    /// Open descriptors above the three standard ones.
    pub descriptors: Vec<u32>,
}

/// One thing that must not be possible inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub name: String,
    /// Refused with only the first layer (Landlock) in force. `None`: that layer does not cover it.
    pub refused_by_landlock: Option<bool>,
    /// Refused with all layers in force.
    pub refused: bool,
}

impl SandboxReport {
    /// The version of Landlock's interface; 0: the kernel has none.
    pub fn landlock(&self) -> i32 {
        self.layers.landlock
    }

    pub fn seccomp(&self) -> bool {
        self.layers.seccomp
    }

    pub fn not_dumpable(&self) -> bool {
        self.layers.not_dumpable
    }

    /// Names of the layers that are not in force.
    pub fn missing(&self) -> Vec<&'static str> {
        self.layers.missing()
    }

    /// Names of what was possible and must not be, variables and descriptors included.
    pub fn leaks(&self) -> Vec<String> {
        let attempts = self.attempts.iter().filter(|attempt| !attempt.refused).map(|attempt| attempt.name.clone());
        let own = |name: &&String| ![THREADS_VARIABLE, CLOSED_VARIABLE].contains(&name.as_str());
        let variables = self.environment.iter().filter(own).map(|name| format!("environment: {name}"));
        let descriptors = self.descriptors.iter().map(|number| format!("descriptor {number}"));
        attempts.chain(variables).chain(descriptors).collect()
    }

    /// One line for a log.
    pub fn summary(&self) -> String {
        let landlock = match self.landlock() {
            0 => "Landlock missing".to_owned(),
            version => format!("Landlock ABI {version}"),
        };
        let seccomp = if self.seccomp() { "seccomp" } else { "seccomp missing" };
        let dumps = if self.not_dumpable() { "not dumpable" } else { "dumpable" };
        let refused = self.attempts.iter().filter(|attempt| attempt.refused).count();
        format!("{seccomp}, {landlock}, {dumps}; {refused} of {} ways out refused", self.attempts.len())
    }
}
