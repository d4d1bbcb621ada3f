//! One entry of `steps`: a step, or a group of steps that run side by side.

use pleat_domain::SkillName;
use serde_json::Value;

use super::fields::Fields;
use super::{DraftStage, DraftStep, NAMES, Wanted, too_wide, values};
use crate::definition::{Call, FanOut, OnFailure, Retry, RetryOn};
use crate::document::{Data, Node};
use crate::fault::{Report, below, quoted};
use crate::limits;
use crate::reference::StepId;

/// The entry and its `position`.
pub(super) fn stage(node: &Node, pointer: &str, report: &mut Report) -> Option<(Option<u64>, DraftStage)> {
    let mut fields = Fields::of(node, pointer, "a step", report)?;
    let position = fields
        .optional("position")
        .and_then(|position| values::integer(position, &below(pointer, "position"), 0..=1_000_000, report));
    if !fields.has("parallel") {
        let step = step(node, fields, pointer, report);
        return Some((position, DraftStage { group: false, steps: vec![step] }));
    }
    let place = fields.pointer("parallel");
    let members = fields.optional("parallel").and_then(|list| values::list(list, &place, "`parallel`", report));
    fields.finish(report);
    let members = members.unwrap_or_default();
    if members.is_empty() {
        report.fault(node.at, pointer, "the parallel group is empty", "put steps into it, or take it out");
    }
    let mut steps = Vec::new();
    for (index, member) in members.iter().enumerate() {
        let pointer = below(&place, index);
        if let Some(mut fields) = Fields::of(member, &pointer, "a step", report) {
            if fields.has("parallel") {
                let hint = "put its steps into the outer group, or move them into a pipeline that a step calls";
                report.fault(member.at, &pointer, "a parallel group stands inside another", hint);
                continue;
            }
            if let Some(position) = fields.optional("position") {
                let hint = "take it out; the group may have one";
                report.fault(
                    position.at,
                    fields.pointer("position"),
                    "a step in a group has no position of its own",
                    hint,
                );
            }
            steps.push(step(member, fields, &pointer, report));
        }
    }
    let stage = DraftStage { group: true, steps };
    too_wide(&stage, node, pointer, report);
    Some((position, stage))
}

fn step(node: &Node, mut fields: Fields<'_>, pointer: &str, report: &mut Report) -> DraftStep {
    let id = fields.required("id", node, report).and_then(|id| {
        let place = below(pointer, "id");
        let text = values::text(id, &place, "the id of a step", report)?;
        let parsed = StepId::parse(text);
        parsed
            .map_err(|bad| report.fault(id.at, &place, format!("{} cannot be an id", quoted(text)), bad.to_string()))
            .ok()
    });
    let call = call(node, &mut fields, pointer, report);
    let when = fields.optional("when").and_then(|when| values::condition(when, &below(pointer, "when"), report));
    let for_each = fields.optional("for_each").map(|node| fan_out(node, &below(pointer, "for_each"), report));
    let place = below(pointer, "input_mapping");
    let input = fields.optional("input_mapping").map(|node| values::mapping(node, &place, report));
    let timeout = fields
        .optional("timeout")
        .and_then(|node| values::duration(node, &below(pointer, "timeout"), limits::TIMEOUT, report));
    let retry = fields.optional("retry").map(|node| retry(node, &below(pointer, "retry"), report)).unwrap_or_default();
    fields.finish(report);
    let (for_each, input) = (for_each.unwrap_or_default(), input.unwrap_or_default());
    DraftStep { pointer: pointer.to_owned(), id, call, when, for_each, input, timeout, retry }
}

/// By `tool_name`, as documented; by `kind`; or as the workflow nodes for agents are written (`type`, `nodeId`).
fn call(node: &Node, fields: &mut Fields<'_>, pointer: &str, report: &mut Report) -> Option<Call> {
    let kind = fields.optional("kind");
    let (action, named) = (fields.optional("type"), fields.optional("nodeId"));
    let config = fields.optional("config");
    let (tool, function) = (fields.optional("tool_name"), fields.optional("function_id"));
    if let Some(action) = action {
        values::word(action, &below(pointer, "type"), &[("action", ())], report)?;
    }
    let (tag, place) = match (kind, named) {
        (Some(kind), _) => (Some(kind), below(pointer, "kind")),
        (None, named) => (named, below(pointer, "nodeId")),
    };
    let tag = match tag {
        None => None,
        Some(tag) => Some((tag, values::text(tag, &place, "the kind of a step", report)?)),
    };
    match tag {
        Some((_, "agent.invoke")) => Some(Call::AgentInvoke(config.map_or(Value::Null, Node::to_value))),
        Some((_, "agent.dispatch")) => Some(Call::AgentDispatch(config.map_or(Value::Null, Node::to_value))),
        Some((tag, other)) if !matches!(other, "function" | "pipeline") => {
            values::unknown_word(tag, &place, other, "kind of step", report);
            None
        }
        tag => {
            if let Some(config) = config {
                let message = "`config` belongs to steps that call agents";
                report.fault(config.at, below(pointer, "config"), message, "use `input_mapping`");
            }
            let Some((named, field)) =
                tool.map(|tool| (tool, "tool_name")).or(function.map(|one| (one, "function_id")))
            else {
                report.fault(
                    node.at,
                    pointer,
                    "the step calls nothing",
                    "add `tool_name`: a function, or `pipeline:<name>`",
                );
                return None;
            };
            skill(named, &below(pointer, field), tag.map(|(_, kind)| kind), report)
        }
    }
}

fn skill(node: &Node, pointer: &str, kind: Option<&str>, report: &mut Report) -> Option<Call> {
    let text = values::text(node, pointer, "the name of what is called", report)?;
    let (prefixed, name) = match text.strip_prefix("pipeline:") {
        Some(name) => (true, name),
        None => (false, text),
    };
    if prefixed && kind == Some("function") {
        report.fault(
            node.at,
            pointer,
            format!("{} is a pipeline, and `kind` says function", quoted(text)),
            "take `kind` out",
        );
    }
    match SkillName::parse(name) {
        Ok(name) if prefixed || kind == Some("pipeline") => Some(Call::Pipeline(name)),
        Ok(name) => Some(Call::Function(name)),
        Err(_) => {
            report.fault(node.at, pointer, format!("{} names nothing that can be called", quoted(text)), NAMES);
            None
        }
    }
}

/// An expression for the items alone, or an object that says more.
fn fan_out(node: &Node, pointer: &str, report: &mut Report) -> Wanted<FanOut> {
    let usual =
        |over| FanOut { over, concurrency: limits::CONCURRENCY, max_items: limits::ITEMS, on_failure: OnFailure::Stop };
    if !matches!(node.data, Data::Object(_)) {
        return values::mapping(node, pointer, report).map(usual);
    }
    let Some(mut fields) = Fields::of(node, pointer, "`for_each`", report) else { return Wanted::Unclear(None) };
    let over = fields.required("in", node, report);
    let over = over.map_or(Wanted::Unclear(None), |node| values::mapping(node, &below(pointer, "in"), report));
    let mut number = |key: &'static str, most: u32, usual: u32| {
        let number = fields
            .optional(key)
            .and_then(|node| values::integer(node, &below(pointer, key), 1..=u64::from(most), report));
        number.and_then(|number| u32::try_from(number).ok()).unwrap_or(usual)
    };
    let concurrency = number("concurrency", limits::CONCURRENCY_MOST, limits::CONCURRENCY);
    let max_items = number("max_items", limits::ITEMS_MOST, limits::ITEMS);
    let words = [("stop", OnFailure::Stop), ("continue", OnFailure::Continue)];
    let on_failure = fields
        .optional("on_failure")
        .and_then(|node| values::word(node, &below(pointer, "on_failure"), &words, report));
    fields.finish(report);
    over.map(|over| FanOut { over, concurrency, max_items, on_failure: on_failure.unwrap_or(OnFailure::Stop) })
}

/// A number of tries alone, or an object that says more.
fn retry(node: &Node, pointer: &str, report: &mut Report) -> Retry {
    let usual = Retry::default();
    let attempts = |node: &Node, pointer: &str, report: &mut Report| {
        let number = values::integer(node, pointer, 1..=u64::from(limits::ATTEMPTS), report);
        number.and_then(|number| u32::try_from(number).ok()).unwrap_or(usual.attempts)
    };
    if matches!(node.data, Data::Number(_)) {
        return Retry { attempts: attempts(node, pointer, report), ..usual };
    }
    let Some(mut fields) = Fields::of(node, pointer, "`retry`", report) else { return usual };
    let tries =
        fields.required("attempts", node, report).map(|node| attempts(node, &below(pointer, "attempts"), report));
    let mut length = |fields: &mut Fields<'_>, key: &'static str, usual| {
        let read = |node| values::duration(node, &below(pointer, key), limits::BACKOFF, report);
        fields.optional(key).and_then(read).unwrap_or(usual)
    };
    let backoff = length(&mut fields, "backoff", usual.backoff);
    let max_backoff = length(&mut fields, "max_backoff", usual.max_backoff.max(backoff));
    let factor =
        fields.optional("factor").and_then(|node| values::integer(node, &below(pointer, "factor"), 1..=10, report));
    let words = [("retryable", RetryOn::Retryable), ("any", RetryOn::Any)];
    let on = fields.optional("on").and_then(|node| values::word(node, &below(pointer, "on"), &words, report));
    fields.finish(report);
    Retry {
        attempts: tries.unwrap_or(usual.attempts),
        backoff,
        factor: factor.and_then(|factor| u32::try_from(factor).ok()).unwrap_or(usual.factor),
        max_backoff,
        on: on.unwrap_or(usual.on),
    }
}
