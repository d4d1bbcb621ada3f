//! Plans: what a tenant may use. The operator names them in the configuration, a tenant has one of them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits::MIB;

/// A plan's name: 1 to 40 of `a-z 0-9 -`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlanName(String);

/// The text cannot name a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a plan's name has 1 to 40 characters of a-z, 0-9 and `-`")]
pub struct BadPlanName;

impl PlanName {
    pub fn parse(text: &str) -> Result<Self, BadPlanName> {
        let fits = text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        if fits && (1..=40).contains(&text.len()) { Ok(Self(text.to_owned())) } else { Err(BadPlanName) }
    }

    /// What a tenant has that was given nothing else.
    pub fn standard() -> Self {
        Self("standard".to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for PlanName {
    type Error = BadPlanName;

    fn try_from(text: String) -> Result<Self, BadPlanName> {
        Self::parse(&text)
    }
}

impl From<PlanName> for String {
    fn from(name: PlanName) -> Self {
        name.0
    }
}

impl fmt::Display for PlanName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// How much of something: a number, or `"unlimited"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Amount {
    Most(u64),
    Unlimited(Unlimited),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unlimited {
    Unlimited,
}

impl Amount {
    pub const UNLIMITED: Self = Self::Unlimited(Unlimited::Unlimited);

    pub const fn most(self) -> Option<u64> {
        match self {
            Self::Most(most) => Some(most),
            Self::Unlimited(_) => None,
        }
    }
}

/// What a tenant may use. What a configuration leaves out is as in the plan `standard`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Requests at the doors and the control API, of all callers together.
    pub requests_per_minute: Amount,
    /// Of these, the ones without a key.
    pub anonymous_requests_per_minute: Amount,
    /// Requests that may come at once; a tenth of a minute's where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_burst: Option<u64>,
    /// Tasks that run or wait to run.
    pub concurrent_tasks: Amount,
    /// Open event streams over A2A and HTTP.
    pub streams: Amount,
    pub cpu_ms_per_minute: Amount,
    pub cpu_ms_per_day: Amount,
    /// Inputs, results and uploads together.
    pub stored_bytes_per_day: Amount,
    /// Deployed functions.
    pub functions: Amount,
    /// The sources of all their versions together.
    pub source_bytes: Amount,
    /// The compiled code of the active versions together.
    pub compiled_bytes: Amount,
    /// The most that the tenant may hold of a node's instance slots.
    pub slot_percent: u8,
    /// What the tenant's calls may hold of a node's memory.
    pub memory_bytes: Amount,
}

impl Plan {
    pub const STANDARD: Self = Self {
        requests_per_minute: Amount::Most(60_000),
        anonymous_requests_per_minute: Amount::Most(6_000),
        request_burst: None,
        concurrent_tasks: Amount::Most(250),
        streams: Amount::Most(1_000),
        cpu_ms_per_minute: Amount::Most(120_000),
        cpu_ms_per_day: Amount::Most(8 * 60 * 60 * 1_000),
        stored_bytes_per_day: Amount::Most(10 * 1024 * MIB as u64),
        functions: Amount::Most(500),
        source_bytes: Amount::Most(1024 * MIB as u64),
        compiled_bytes: Amount::Most(1024 * MIB as u64),
        slot_percent: 50,
        memory_bytes: Amount::Most(1024 * MIB as u64),
    };

    /// A first, small one to give away.
    pub const SMALL: Self = Self {
        requests_per_minute: Amount::Most(600),
        anonymous_requests_per_minute: Amount::Most(120),
        request_burst: None,
        concurrent_tasks: Amount::Most(20),
        streams: Amount::Most(100),
        cpu_ms_per_minute: Amount::Most(10_000),
        cpu_ms_per_day: Amount::Most(10 * 60 * 1_000),
        stored_bytes_per_day: Amount::Most(256 * MIB as u64),
        functions: Amount::Most(20),
        source_bytes: Amount::Most(64 * MIB as u64),
        compiled_bytes: Amount::Most(128 * MIB as u64),
        slot_percent: 10,
        memory_bytes: Amount::Most(256 * MIB as u64),
    };

    pub const UNLIMITED: Self = Self {
        requests_per_minute: Amount::UNLIMITED,
        anonymous_requests_per_minute: Amount::UNLIMITED,
        request_burst: None,
        concurrent_tasks: Amount::UNLIMITED,
        streams: Amount::UNLIMITED,
        cpu_ms_per_minute: Amount::UNLIMITED,
        cpu_ms_per_day: Amount::UNLIMITED,
        stored_bytes_per_day: Amount::UNLIMITED,
        functions: Amount::UNLIMITED,
        source_bytes: Amount::UNLIMITED,
        compiled_bytes: Amount::UNLIMITED,
        slot_percent: 100,
        memory_bytes: Amount::UNLIMITED,
    };
}

impl Default for Plan {
    fn default() -> Self {
        Self::STANDARD
    }
}

/// The plans of a platform by name. `small`, `standard` and `unlimited` are there unless they are named otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<PlanName, Plan>")]
pub struct Plans(BTreeMap<PlanName, Plan>);

impl Plans {
    /// `None`: a plan that the configuration no longer has.
    pub fn get(&self, name: &PlanName) -> Option<&Plan> {
        self.0.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &PlanName> {
        self.0.keys()
    }

    pub fn insert(&mut self, name: PlanName, plan: Plan) {
        self.0.insert(name, plan);
    }

    /// For one's own machine: nobody is held back who was not meant to be.
    pub fn generous() -> Self {
        let mut plans = Self::default();
        plans.insert(PlanName::standard(), Plan::UNLIMITED);
        plans
    }
}

impl Default for Plans {
    fn default() -> Self {
        Self::from(BTreeMap::new())
    }
}

impl From<BTreeMap<PlanName, Plan>> for Plans {
    fn from(named: BTreeMap<PlanName, Plan>) -> Self {
        let known = [("small", Plan::SMALL), ("standard", Plan::STANDARD), ("unlimited", Plan::UNLIMITED)];
        let mut all: BTreeMap<_, _> = known.into_iter().map(|(name, plan)| (PlanName(name.to_owned()), plan)).collect();
        all.extend(named);
        Self(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plan_does_not_say_is_as_in_the_standard_one() {
        let text = r#"{"free": {"requests_per_minute": 60, "cpu_ms_per_day": "unlimited"}}"#;
        let plans: Plans = serde_json::from_str(text).unwrap();
        let free = plans.get(&PlanName::parse("free").unwrap()).unwrap();
        let expected =
            Plan { requests_per_minute: Amount::Most(60), cpu_ms_per_day: Amount::UNLIMITED, ..Plan::STANDARD };
        assert_eq!(*free, expected);
        let names: Vec<_> = plans.names().map(PlanName::as_str).collect();
        assert_eq!(names, ["free", "small", "standard", "unlimited"]);
    }

    #[test]
    fn what_is_misspelt_is_refused() {
        for text in [
            r#"{"free": {"requests": 60}}"#,
            r#"{"free": {"functions": "infinite"}}"#,
            r#"{"Free": {}}"#,
            r#"{"free": {"functions": -1}}"#,
        ] {
            assert!(serde_json::from_str::<Plans>(text).is_err(), "{text}");
        }
    }
}
