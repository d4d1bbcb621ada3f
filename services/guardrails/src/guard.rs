//! A policy at work: values and texts in, verdicts out, redacted in place.

use pleat_schemas as schemas;
use serde_json::Value;

use crate::analysis::{Plan, Spot};
use crate::finding::{Finding, Verdict};
use crate::kind::Kind;
use crate::mask::{self, Masks};
use crate::policy::{Action, Check, CheckType, Config, Mode, OnError, Policy, Target};
use crate::redact::{self, Clusters};
use crate::session::Session;
use crate::stream::Stream;
use crate::walk::{self, Leaf, Walked};
use crate::work::Work;

/// The work that a schema check may be, on threads that do I/O. Where it is more, the check's `on_error` decides.
const SCHEMA_EFFORT: schemas::Effort = schemas::Effort { steps: 200_000, ..schemas::Effort::INLINE };

/// Which side of a call a value is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    Input,
    Output,
}

impl Side {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
    }
}

/// A policy, ready to look at values. Cheap to keep and to share; looking changes nothing in it.
#[derive(Debug, Clone)]
pub struct Guard {
    input: Plan,
    output: Plan,
}

/// A place in a text that a check takes exception to, for showing and for measuring.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Place {
    pub check: CheckType,
    pub rule: String,
    #[serde(skip)]
    pub kind: Kind,
    pub action: Action,
    /// In bytes.
    pub start: usize,
    pub end: usize,
}

impl Guard {
    pub fn new(policy: &Policy) -> Self {
        let side = |other: Target| {
            let checks = policy.checks().iter().filter(|check| check.target != other);
            Plan::new(checks.cloned().collect())
        };
        Self { input: side(Target::Output), output: side(Target::Input) }
    }

    /// Whether there is nothing to check on a side: what passes there need not even be parsed.
    pub fn is_idle(&self, side: Side) -> bool {
        self.plan(side).checks.is_empty()
    }

    /// Whether a stream on this side has to be held until its end: some check may block it.
    pub fn holds(&self, side: Side) -> bool {
        self.plan(side).checks.iter().any(holds)
    }

    /// Looks at a value. What is to be redacted is, unless the value is blocked: then it stays as it was.
    pub fn inspect(&self, side: Side, value: &mut Value, session: &mut Session) -> Verdict {
        let weighed = self.weigh(side, value);
        self.read_on(side, value, session, weighed)
    }

    /// The same without the checks that are about a value as a whole: for what is a part of one, or says the same in
    /// another form.
    pub fn read(&self, side: Side, value: &mut Value, session: &mut Session) -> Verdict {
        self.read_on(side, value, session, Verdict::default())
    }

    /// Only the checks that are about a value as a whole: its schema and its size.
    pub fn weigh(&self, side: Side, value: &Value) -> Verdict {
        let mut verdict = Verdict::default();
        let plan = self.plan(side);
        self.measure(plan, value, &mut verdict);
        for finding in &mut verdict.findings {
            finding.pointer = mask::searched(plan, &finding.pointer);
        }
        verdict
    }

    fn read_on(&self, side: Side, value: &mut Value, session: &mut Session, mut verdict: Verdict) -> Verdict {
        let plan = self.plan(side);
        if !plan.reads() {
            return verdict;
        }
        let Walked { leaves, complete, work } = walk::leaves(plan, value);
        if !complete {
            incomplete(plan, &mut verdict);
        }
        unfinished(plan, &work, &mut verdict);
        let clusters: Vec<(Leaf, Clusters)> = leaves
            .into_iter()
            .map(|leaf| {
                let clusters = redact::clusters(plan, &leaf.spots);
                (leaf, clusters)
            })
            .collect();
        let strictest = clusters.iter().filter_map(|(_, clusters)| clusters.action()).max();
        let redacts = verdict.action.max(strictest) == Some(Action::Redact);
        for (leaf, clusters) in &clusters {
            redact::report(plan, leaf, clusters, redacts, session, &mut verdict);
        }
        let masks = Masks::of(&clusters);
        if !masks.is_empty() {
            verdict.findings.iter_mut().for_each(|finding| finding.pointer = masks.shown(&finding.pointer));
        }
        if redacts {
            walk::rewrite(value, &clusters, session);
        }
        verdict
    }

    /// The same for a text on its own. The text comes back as it may be passed on.
    pub fn inspect_text(&self, side: Side, text: &str, session: &mut Session) -> (String, Verdict) {
        let mut value = Value::String(text.to_owned());
        let verdict = self.inspect(side, &mut value, session);
        let text = match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        (text, verdict)
    }

    /// A value cannot be looked at at all: the checks that fail closed block.
    pub fn unread(&self, side: Side) -> Verdict {
        let mut verdict = Verdict::default();
        incomplete(self.plan(side), &mut verdict);
        verdict
    }

    /// What was to be redacted cannot be, as in a file that is no text: the checks that fail closed block.
    pub fn unfinished(&self, side: Side) -> Verdict {
        let mut verdict = Verdict::default();
        let redacts = |check: &&Check| check.mode == Mode::Enforce && check.action == Action::Redact;
        give_up(self.plan(side).checks.iter().filter(redacts), &mut verdict);
        verdict
    }

    /// A text as it may be shown where nothing of what was found is: its kind stands there instead.
    pub fn shown(&self, side: Side, text: &str) -> String {
        let plan = self.plan(side);
        if plan.reads() { mask::masked(text, &plan.spots(text)) } else { text.to_owned() }
    }

    /// Looks at a text that comes in pieces.
    pub fn stream(&self, side: Side) -> Stream {
        Stream::new(self.plan(side).clone())
    }

    /// Everything that the checks of a side see in a text, unmerged.
    pub fn places(&self, side: Side, text: &str) -> Vec<Place> {
        let plan = self.plan(side);
        let place = |spot: Spot| {
            let check = plan.checks.get(spot.check)?;
            let rule = redact::rule(check, &spot);
            Some(Place {
                check: check.check,
                rule,
                kind: spot.kind,
                action: check.action,
                start: spot.start,
                end: spot.end,
            })
        };
        plan.spots(text).into_iter().filter_map(place).collect()
    }

    /// A guard for one plan, on both sides.
    pub(crate) fn of(plan: Plan) -> Self {
        Self { input: Plan::default(), output: plan }
    }

    const fn plan(&self, side: Side) -> &Plan {
        match side {
            Side::Input => &self.input,
            Side::Output => &self.output,
        }
    }

    /// Checks that look at the value as a whole.
    fn measure(&self, plan: &Plan, value: &Value, verdict: &mut Verdict) {
        for check in &plan.checks {
            match (&check.config, check.check) {
                (Config::Schema(schema), _) => match schema.check(value, SCHEMA_EFFORT) {
                    Ok(schemas::Verdict::Valid) => {}
                    Ok(schemas::Verdict::Invalid(faults)) => {
                        for fault in faults {
                            verdict.add(whole(check, Kind::Schema, fault.pointer));
                        }
                    }
                    Err(schemas::Spent) => give_up(std::iter::once(check), verdict),
                },
                (Config::Limit(limit), CheckType::MaxTokens)
                    if walk::most_tokens(value) > *limit && walk::tokens(value, *limit) > *limit =>
                {
                    verdict.add(whole(check, Kind::Tokens, String::new()));
                }
                (Config::Limit(limit), CheckType::MaxSize)
                    if walk::most_bytes(value) > *limit && walk::size(value, *limit) > *limit =>
                {
                    verdict.add(whole(check, Kind::Size, String::new()));
                }
                _ => {}
            }
        }
    }
}

/// Whether a check may stop a stream, or needs all of it to know what to do.
pub(crate) fn holds(check: &Check) -> bool {
    let whole = check.check == CheckType::PromptInjection && check.action == Action::Redact;
    check.mode == Mode::Enforce && (check.action == Action::Block || whole)
}

/// A finding about a value as a whole.
pub(crate) fn whole(check: &Check, kind: Kind, pointer: String) -> Finding {
    Finding {
        check: check.check,
        rule: check.name.clone().unwrap_or_else(|| check.check.name().to_owned()),
        kind,
        action: check.action,
        severity: check.severity,
        mode: check.mode,
        pointer,
        hash: String::new(),
        placeholder: None,
    }
}

/// Not everything could be looked at: the checks that fail closed block.
pub(crate) fn incomplete(plan: &Plan, verdict: &mut Verdict) {
    give_up(plan.checks.iter(), verdict);
}

/// Some patterns or terms would have been too much work.
pub(crate) fn unfinished(plan: &Plan, work: &Work, verdict: &mut Verdict) {
    give_up(work.unfinished().iter().filter_map(|at| plan.checks.get(*at)), verdict);
}

fn give_up<'a>(checks: impl Iterator<Item = &'a Check>, verdict: &mut Verdict) {
    for check in checks.filter(|check| check.on_error == OnError::FailClosed) {
        let rule = format!("{}.unfinished", check.check.name());
        verdict.add(Finding { rule, action: Action::Block, ..whole(check, Kind::Size, String::new()) });
    }
}
