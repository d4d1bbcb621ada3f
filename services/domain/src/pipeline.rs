//! What the rest of the platform knows of pipelines: whether one may run, and what a run of it is pinned to. What is
//! in a pipeline is another crate's.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::TaskId;

/// Who may run a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PipelineState {
    /// Runs only for who may deploy it and asks for it directly.
    Draft,
    /// A skill like any other.
    Active,
    /// Refused everywhere.
    Archived,
}

impl PipelineState {
    const ALL: [Self; 3] = [Self::Draft, Self::Active, Self::Archived];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Active => "active",
            Self::Archived => "archived",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// How the database keeps it: a number that never changes its meaning.
    pub const fn to_code(self) -> i16 {
        match self {
            Self::Draft => 0,
            Self::Active => 1,
            Self::Archived => 2,
        }
    }

    pub fn from_code(code: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.to_code() == code)
    }
}

/// What is kept with the task of a run. The version of its definition is the task's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunRecord {
    /// The version of each skill that it calls, those that its inner pipelines call included.
    pub pins: BTreeMap<String, i32>,
    /// The run whose beginning it took over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_of: Option<TaskId>,
    /// The step from which it ran again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The steps whose conditions did not hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_codes_round_trip() {
        for state in PipelineState::ALL {
            assert_eq!(PipelineState::from_code(state.to_code()), Some(state));
            assert_eq!(PipelineState::parse(state.as_str()), Some(state));
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
        assert_eq!(PipelineState::from_code(3), None);
    }

    #[test]
    fn a_record_says_only_what_there_is_to_say() {
        let record = RunRecord { pins: BTreeMap::from([("f".to_owned(), 2)]), ..RunRecord::default() };
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(text, r#"{"pins":{"f":2}}"#);
        assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), record);
    }
}
