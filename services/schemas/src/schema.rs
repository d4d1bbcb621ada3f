//! A compiled schema, and what it says of values.

use jsonschema::paths::Location;
use jsonschema::{Keyword, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::counted::{Counted, Step};
use crate::positions::Positions;
use crate::steps::{Broken, Effort, within};
use crate::{graph, patterns};

/// How many faults are reported at once.
const MOST_FAULTS: usize = 8;
/// A fault quotes the offending value, which may be long.
const LONGEST_FAULT: usize = 240;
/// The work of telling faults one by one.
const DETAIL_STEPS: u64 = 500_000;
/// The keyword that counts; schemas that bring it along find it replaced.
const KEYWORD: &str = "x-pleat-steps";
/// The work of compiling: schemas, references and names of properties.
const COMPILE_STEPS: u64 = 60_000;
/// What a compiled schema takes for each value in it, about.
const BYTES_PER_VALUE: usize = 400;

/// A schema that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at `{pointer}`)")]
pub struct Refused {
    pub pointer: String,
    pub message: String,
}

impl Refused {
    pub(crate) fn at(pointer: &str, message: String) -> Self {
        Self { pointer: pointer.to_owned(), message }
    }

    fn of(error: &ValidationError<'_>) -> Self {
        Self { pointer: error.instance_path().to_string(), message: without_keyword(error.to_string()) }
    }
}

/// What is wrong with a value, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub pointer: String,
    pub message: String,
}

/// A validation that needs more work than it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the schema needs more than {} steps for this value: use fewer alternatives, or a smaller value", Effort::FULL.steps)]
pub struct Spent;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Valid,
    Invalid(Vec<Fault>),
}

/// A compiled schema.
pub struct Schema {
    validator: Validator<Counted>,
    /// Values that each fault may copy from it.
    data: u64,
    bytes: usize,
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Schema {
    /// Compiles a schema: no references to elsewhere, patterns on a linear engine. May take a moment, and a deep one
    /// needs a thread with [`Effort::STACK`].
    pub fn compile(schema: &Value, effort: Effort) -> Result<Self, Refused> {
        let positions = Positions::of(schema)?;
        graph::check(&positions)?;
        // Before the keyword is in it, so that faults quote what was written. Where a part of a schema names a schema of
        // schemas of its own, only the library knows which counts.
        if positions.all.iter().skip(1).all(|position| !names_another(schema, &position.pointer)) {
            check_form(schema, effort)?;
        }
        let patterns = patterns::weigh(schema, &positions)?;
        let mut counted = schema.clone();
        positions.count(&mut counted, KEYWORD);
        let effort = Effort { steps: COMPILE_STEPS, ..effort };
        let built = within(effort, 0, || build(&counted));
        let validator = built.map_err(too_large)??;
        let values = usize::try_from(crate::counted::size(&counted)).unwrap_or(usize::MAX);
        let bytes = values.saturating_mul(BYTES_PER_VALUE).saturating_add(patterns);
        Ok(Self { validator, data: positions.data, bytes })
    }

    /// The same on a thread of any stack.
    pub fn compile_apart(schema: &Value) -> Result<Self, Refused> {
        let first = Self::compile(schema, Effort::INLINE);
        if !matches!(&first, Err(refused) if refused.pointer.is_empty()) {
            return first;
        }
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(Effort::STACK);
            let work = thread.spawn_scoped(scope, || Self::compile(schema, Effort::FULL));
            work.ok().and_then(|work| work.join().ok()).unwrap_or(first)
        })
    }

    /// About what it takes in memory.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Decides about a value. Faults are told one by one where that is little work, else as one.
    pub fn check(&self, value: &Value, effort: Effort) -> Result<Verdict, Spent> {
        let decided = within(effort, self.data, || self.validator.is_valid(value));
        match decided {
            Ok(true) => Ok(Verdict::Valid),
            Ok(false) => Ok(Verdict::Invalid(self.faults(value, effort))),
            Err(Broken::Spent | Broken::Panicked) => Err(Spent),
        }
    }

    fn faults(&self, value: &Value, effort: Effort) -> Vec<Fault> {
        let fault = |error: ValidationError<'_>| Fault {
            pointer: error.instance_path().to_string(),
            message: shorten(&without_keyword(error.to_string())),
        };
        let effort = Effort { steps: effort.steps.min(DETAIL_STEPS), ..effort };
        let all = within(effort, self.data, || {
            self.validator.iter_errors(value).take(MOST_FAULTS).map(fault).collect::<Vec<_>>()
        });
        match all {
            Ok(faults) if !faults.is_empty() => faults,
            _ => {
                let message = "the value does not match the schema; to say where would take too much work";
                vec![Fault { pointer: String::new(), message: message.to_owned() }]
            }
        }
    }
}

fn build(schema: &Value) -> Result<Validator<Counted>, Refused> {
    let patterns = PatternOptions::regex().size_limit(patterns::PATTERN_BYTES).dfa_size_limit(patterns::SEARCH_BYTES);
    let options = jsonschema::options_for::<Counted>().with_pattern_options(patterns).with_keyword(KEYWORD, step);
    options.build(schema).map_err(|error| Refused::of(&error))
}

#[expect(clippy::unnecessary_wraps, reason = "the library's signature")]
fn step<'a>(
    _: &'a Map<String, Value>,
    allows: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i, Counted>>, ValidationError<'a>> {
    crate::steps::spend(1);
    Ok(Box::new(Step { allows: allows.as_u64() != Some(0) }))
}

fn names_another(schema: &Value, pointer: &str) -> bool {
    schema.pointer(pointer).is_some_and(|part| part.get("$schema").is_some())
}

/// What the schema of schemas says.
fn check_form(schema: &Value, effort: Effort) -> Result<(), Refused> {
    let checked = within(effort, 0, || match jsonschema::meta::validator_for(schema) {
        Ok(meta) => meta.validate(schema).map_err(|error| Refused::of(&error)),
        Err(error) => Err(Refused::of(&error)),
    });
    checked.map_err(too_large)?
}

fn too_large(broken: Broken) -> Refused {
    let text = match broken {
        Broken::Spent => format!("the schema needs more than {COMPILE_STEPS} steps to be compiled"),
        Broken::Panicked => "the schema cannot be compiled".to_owned(),
    };
    Refused::at("", text)
}

/// Faults may quote a schema as it was compiled.
fn without_keyword(message: String) -> String {
    if !message.contains(KEYWORD) {
        return message;
    }
    let quoted = [(":1}", "true"), (":0}", "false"), (":true,", "{"), (":true}", "{}")];
    quoted.iter().fold(message, |message, (end, to)| message.replace(&format!("{{\"{KEYWORD}\"{end}"), to))
}

fn shorten(message: &str) -> String {
    match message.char_indices().nth(LONGEST_FAULT) {
        Some((end, _)) => format!("{}…", message.get(..end).unwrap_or_default()),
        None => message.to_owned(),
    }
}
