//! What there is to call, as whoever asks knows it: the checks look nothing up themselves.

use std::collections::BTreeMap;

use pleat_domain::SkillName;
use serde_json::Value;

use crate::definition::{Call, Definition};

/// The skills of a tenant. A pipeline that must not be called any more (archived) is left out.
#[derive(Debug, Default, Clone)]
pub struct Catalog<'a> {
    skills: BTreeMap<String, Known<'a>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Known<'a> {
    Function { input: Option<&'a Value>, output: Option<&'a Value> },
    Pipeline(&'a Definition),
}

impl<'a> Catalog<'a> {
    /// A function with its JSON Schemas, where it has them.
    pub fn function(&mut self, name: &SkillName, input: Option<&'a Value>, output: Option<&'a Value>) {
        self.skills.insert(name.to_string(), Known::Function { input, output });
    }

    pub fn pipeline(&mut self, definition: &'a Definition) {
        self.skills.insert(format!("pipeline:{}", definition.name), Known::Pipeline(definition));
    }

    pub(crate) fn find(&self, skill: &str) -> Option<Known<'a>> {
        self.skills.get(skill).copied()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.skills.keys().map(String::as_str)
    }

    pub(crate) fn pipelines(&self) -> impl Iterator<Item = &'a Definition> {
        self.skills.values().filter_map(|known| match known {
            Known::Pipeline(definition) => Some(*definition),
            Known::Function { .. } => None,
        })
    }

    pub(crate) fn calls_of(&self, name: &SkillName) -> Vec<&'a SkillName> {
        match self.find(&format!("pipeline:{name}")) {
            Some(Known::Pipeline(definition)) => definition.calls().into_iter().filter_map(pipeline).collect(),
            _ => Vec::new(),
        }
    }
}

impl<'a> Known<'a> {
    pub(crate) fn input(self) -> Option<&'a Value> {
        match self {
            Self::Function { input, .. } => input,
            Self::Pipeline(definition) => definition.input_schema.as_ref(),
        }
    }

    pub(crate) fn output(self) -> Option<&'a Value> {
        match self {
            Self::Function { output, .. } => output,
            Self::Pipeline(definition) => definition.output_schema.as_ref(),
        }
    }
}

pub(crate) const fn pipeline(call: &Call) -> Option<&SkillName> {
    match call {
        Call::Pipeline(name) => Some(name),
        _ => None,
    }
}
