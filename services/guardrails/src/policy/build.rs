//! From JSON to a policy: every field is looked at, and every fault noted, before anything is refused.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::config::{self, Config, Denylist, UrlRules};
use super::fault::Faults;
use super::json::{Node, Shape, read};
use super::{Action, Check, CheckType, LONGEST, MOST_CHECKS, Mode, OnError, Pattern, Policy, Severity, Target};
use crate::kind::{Kind, Kinds};

const MOST_TERMS: usize = 5_000;
const LONGEST_TERM: usize = 256;
const LONGEST_NAME: usize = 64;
const MOST_DOMAINS: usize = 1_000;
/// What `max-tokens` allows where nothing is said.
const TOKENS: usize = 5_000;

const ACTIONS: &[(&str, Action)] =
    &[("block", Action::Block), ("redact", Action::Redact), ("warn", Action::Warn), ("log", Action::Log)];
const TARGETS: &[(&str, Target)] =
    &[("input", Target::Input), ("output", Target::Output), ("both", Target::Both), ("all", Target::Both)];
const SEVERITIES: &[(&str, Severity)] =
    &[("low", Severity::Low), ("medium", Severity::Medium), ("high", Severity::High), ("critical", Severity::Critical)];
const MODES: &[(&str, Mode)] = &[("enforce", Mode::Enforce), ("shadow", Mode::Shadow)];
const ON_ERRORS: &[(&str, OnError)] = &[("fail_open", OnError::FailOpen), ("fail_closed", OnError::FailClosed)];
const POLICY_FIELDS: &[&str] = &["enabled", "inherit", "checks", "action", "mode", "on_error", "name", "description"];
const CHECK_FIELDS: &[&str] = &["type", "name", "target", "action", "severity", "mode", "on_error", "config"];

pub(super) fn policy(text: &str) -> Result<Policy, Faults> {
    let mut faults = Faults::new();
    if text.len() > LONGEST {
        faults.add(1, 1, "", format!("the policy is longer than {} KiB", LONGEST / 1024));
        return Err(faults);
    }
    let policy = read(&in_place(text), &mut faults)
        .and_then(|root| Builder { faults: &mut faults, pattern_bytes: 0 }.policy(&root));
    match policy {
        Some(policy) if faults.is_empty() => Ok(policy),
        _ => Err(faults),
    }
}

/// The policy in a text that has nothing but it, under its name.
pub(super) fn unwrapped(text: &str) -> Option<&str> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wrapped<'a> {
        #[serde(borrow)]
        policy: &'a RawValue,
    }
    let inner = serde_json::from_str::<Wrapped<'_>>(text).ok()?.policy.get();
    inner.starts_with('{').then_some(inner)
}

/// The policy with nothing around it, at its place: faults are told where they were written.
fn in_place(text: &str) -> Cow<'_, str> {
    let Some(inner) = unwrapped(text) else { return Cow::Borrowed(text) };
    let before = text.find(inner).and_then(|start| text.get(..start)).unwrap_or_default();
    let blank = before.chars().map(|one| if one == '\n' { '\n' } else { ' ' });
    Cow::Owned(blank.chain(inner.chars()).collect())
}

/// What a policy says for all its checks.
struct Defaults {
    action: Option<Action>,
    mode: Mode,
    on_error: OnError,
}

/// The most that the compiled patterns of a policy may take together.
const MOST_PATTERN_BYTES: usize = 4 * 1024 * 1024;

struct Builder<'a> {
    faults: &'a mut Faults,
    pattern_bytes: usize,
}

impl Builder<'_> {
    fn fault<T>(&mut self, node: &Node, message: impl Into<String>) -> Option<T> {
        self.faults.add(node.line, node.column, &node.pointer, message);
        None
    }

    fn policy(&mut self, root: &Node) -> Option<Policy> {
        let members = self.object(root, "a policy", POLICY_FIELDS)?;
        let defaults = Defaults {
            action: self.word(members, "action", ACTIONS),
            mode: self.word(members, "mode", MODES).unwrap_or(Mode::Enforce),
            on_error: self.word(members, "on_error", ON_ERRORS).unwrap_or(OnError::FailClosed),
        };
        let enabled = self.boolean(members, "enabled", true);
        let inherit = self.boolean(members, "inherit", true);
        for field in ["name", "description"] {
            self.text(members, field);
        }
        let Some(list) = member(members, "checks") else {
            return self.fault(root, "a policy has `checks`: an array, which may be empty");
        };
        let Shape::List(items) = &list.shape else {
            return self.fault(list, format!("`checks` is an array, not {}", list.kind()));
        };
        if items.len() > MOST_CHECKS {
            self.fault::<()>(list, format!("more than {MOST_CHECKS} checks"));
        }
        let checks = items.iter().filter_map(|item| self.check(item, &defaults)).collect();
        Some(Policy { enabled, inherit, checks })
    }

    fn check(&mut self, item: &Node, defaults: &Defaults) -> Option<Check> {
        let members = self.object(item, "a check", CHECK_FIELDS)?;
        let Some(kind) = member(members, "type") else {
            return self.fault(item, format!("a check has a `type`: {}", types()));
        };
        let known = self.string(kind).and_then(|name| CheckType::ALL.into_iter().find(|one| one.name() == name));
        if known.is_none() && matches!(kind.shape, Shape::Text(_)) {
            self.fault::<()>(kind, format!("no such type of check: use {}", types()));
        }
        let own = self.word(members, "action", ACTIONS);
        let name = member(members, "name").and_then(|node| self.name(node));
        let target = self.word(members, "target", TARGETS).unwrap_or(Target::Both);
        let severity = self.word(members, "severity", SEVERITIES);
        let mode = self.word(members, "mode", MODES).unwrap_or(defaults.mode);
        let on_error = self.word(members, "on_error", ON_ERRORS).unwrap_or(defaults.on_error);
        let check = known?;
        let config = self.config(check, item, member(members, "config"));
        let said = member(members, "action").is_some();
        let Some(action) = own.or(defaults.action) else {
            return if said {
                None
            } else {
                self.fault(item, "no `action`: say what to do here, or once for the policy")
            };
        };
        if action == Action::Redact && !check.redacts() {
            let place = member(members, "action").unwrap_or(item);
            return self
                .fault(place, format!("`{}` has nothing to redact: use `block`, `warn` or `log`", check.name()));
        }
        let severity = severity.unwrap_or(check.severity());
        Some(Check { check, name, action, target, severity, mode, on_error, config: config? })
    }

    fn config(&mut self, check: CheckType, item: &Node, config: Option<&Node>) -> Option<Config> {
        let fields: &[&str] = match check {
            CheckType::Pii | CheckType::Secrets | CheckType::Unicode => &["types", "except"],
            CheckType::PromptInjection => &["threshold"],
            CheckType::Toxicity => &["severe_only"],
            CheckType::Regex => &["pattern", "flags"],
            CheckType::Denylist => &["terms", "whole_words"],
            CheckType::Url => &["allow", "deny", "exfiltration"],
            CheckType::JsonSchema => &["schema"],
            CheckType::MaxTokens | CheckType::MaxSize => &["limit"],
        };
        let none: &[(String, Node)] = &[];
        let members = match config {
            Some(node) => self.object(node, "a configuration", fields)?,
            None => none,
        };
        let place = config.unwrap_or(item);
        Some(match check {
            CheckType::Pii | CheckType::Secrets | CheckType::Unicode => Config::Kinds(self.kinds(check, members)?),
            CheckType::PromptInjection => Config::Injection { threshold: self.threshold(members)? },
            CheckType::Toxicity => Config::Toxicity { severe_only: self.boolean(members, "severe_only", false) },
            CheckType::Regex => Config::Pattern(self.pattern(place, members)?),
            CheckType::Denylist => Config::Denylist(self.denylist(place, members)?),
            CheckType::Url => Config::Url(self.url(members)),
            CheckType::JsonSchema => {
                let Some(node) = member(members, "schema") else {
                    return self.fault(place, "`json-schema` needs `config.schema`");
                };
                match config::schema(&node.value()) {
                    Ok(validator) => Config::Schema(validator),
                    Err(faults) => {
                        for (pointer, message) in faults {
                            self.fault::<()>(node.below(&pointer), message);
                        }
                        return None;
                    }
                }
            }
            CheckType::MaxTokens => Config::Limit(self.limit(place, members, Some(TOKENS))?),
            CheckType::MaxSize => Config::Limit(self.limit(place, members, None)?),
        })
    }

    fn kinds(&mut self, check: CheckType, members: &[(String, Node)]) -> Option<Kinds> {
        let possible = Kinds::of(check);
        let named = |builder: &mut Self, field: &str| -> Option<Option<Vec<Kind>>> {
            let Some(node) = member(members, field) else { return Some(None) };
            let Shape::List(items) = &node.shape else {
                return builder.fault(node, format!("`{field}` is an array of names, not {}", node.kind()));
            };
            let found: Vec<Option<Kind>> = items
                .iter()
                .map(|item| {
                    let name = builder.string(item)?;
                    let kind = Kind::ALL.into_iter().find(|kind| possible.has(*kind) && kind.name() == name);
                    kind.or_else(|| {
                        let all: Vec<_> = Kind::ALL
                            .into_iter()
                            .filter(|kind| possible.has(*kind))
                            .map(|kind| format!("`{}`", kind.name()))
                            .collect();
                        builder.fault(item, format!("`{}` knows no such type: use {}", check.name(), all.join(", ")))
                    })
                })
                .collect();
            Some(Some(found.into_iter().flatten().collect()))
        };
        let wanted = named(self, "types")?;
        let except = named(self, "except")?.unwrap_or_default();
        let kinds = wanted.map_or(possible, |wanted| wanted.into_iter().fold(Kinds::NONE, Kinds::with));
        Some(except.into_iter().fold(kinds, Kinds::without))
    }

    fn threshold(&mut self, members: &[(String, Node)]) -> Option<f32> {
        let Some(node) = member(members, "threshold") else { return Some(crate::injection::THRESHOLD) };
        match &node.shape {
            Shape::Number(number) => {
                let value = number.as_f64().unwrap_or_default();
                if (0.1..=3.0).contains(&value) {
                    Some(value as f32)
                } else {
                    self.fault(node, "`threshold` is between 0.1 and 3")
                }
            }
            _ => self.fault(node, format!("`threshold` is a number, not {}", node.kind())),
        }
    }

    fn pattern(&mut self, place: &Node, members: &[(String, Node)]) -> Option<Pattern> {
        let flags = self.text(members, "flags").unwrap_or_default();
        let Some(node) = member(members, "pattern") else {
            return self.fault(place, "`regex` needs `config.pattern`");
        };
        let pattern = self.string(node)?;
        match Pattern::new(&pattern, &flags) {
            Ok(pattern) => {
                self.pattern_bytes += pattern.bytes;
                if self.pattern_bytes > MOST_PATTERN_BYTES {
                    let most = MOST_PATTERN_BYTES / (1024 * 1024);
                    return self
                        .fault(node, format!("the patterns of the policy need more than {most} MiB when compiled"));
                }
                Some(pattern)
            }
            Err(message) => self.fault(node, message),
        }
    }

    fn denylist(&mut self, place: &Node, members: &[(String, Node)]) -> Option<Denylist> {
        let whole_words = self.boolean(members, "whole_words", true);
        let Some(node) = member(members, "terms") else {
            return self.fault(place, "`denylist` needs `config.terms`");
        };
        let terms = self.texts(node, MOST_TERMS)?;
        if terms.is_empty() {
            return self.fault(node, "`terms` is empty");
        }
        match Denylist::new(&terms, whole_words) {
            Some(list) => Some(list),
            None => self.fault(node, "the terms are too many to be looked for at once"),
        }
    }

    fn url(&mut self, members: &[(String, Node)]) -> UrlRules {
        let mut domains = |field: &str| {
            let all = member(members, field).and_then(|node| self.texts(node, MOST_DOMAINS)).unwrap_or_default();
            all.into_iter().map(|domain| domain.trim_end_matches('.').to_lowercase()).collect()
        };
        UrlRules {
            allow: domains("allow"),
            deny: domains("deny"),
            exfiltration: self.boolean(members, "exfiltration", true),
        }
    }

    fn limit(&mut self, place: &Node, members: &[(String, Node)], default: Option<usize>) -> Option<usize> {
        let Some(node) = member(members, "limit") else {
            return default.or_else(|| self.fault(place, "`max-size` needs `config.limit`: a number of bytes"));
        };
        let whole = match &node.shape {
            Shape::Number(number) => number.as_u64().and_then(|value| usize::try_from(value).ok()),
            _ => None,
        };
        whole.or_else(|| self.fault(node, "`limit` is a whole number from 0"))
    }

    /// A list of short texts, none of them blank.
    fn texts(&mut self, node: &Node, most: usize) -> Option<Vec<String>> {
        let Shape::List(items) = &node.shape else {
            return self.fault(node, format!("expected an array of strings, not {}", node.kind()));
        };
        if items.len() > most {
            return self.fault(node, format!("more than {most} entries"));
        }
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match self.string(item) {
                Some(text) if text.trim().is_empty() => {
                    self.fault::<()>(item, "the entry is blank").unwrap_or_default()
                }
                Some(text) if text.len() > LONGEST_TERM => {
                    self.fault::<()>(item, format!("the entry is longer than {LONGEST_TERM} bytes"))
                        .unwrap_or_default();
                }
                Some(text) => texts.push(text),
                None => {}
            }
        }
        Some(texts)
    }

    fn object<'n>(&mut self, node: &'n Node, what: &str, fields: &[&str]) -> Option<&'n [(String, Node)]> {
        let Shape::Object(members) = &node.shape else {
            return self.fault(node, format!("{what} is an object, not {}", node.kind()));
        };
        for (key, value) in members.iter().filter(|(key, _)| !fields.contains(&key.as_str())) {
            let short: String = key.chars().take(60).collect();
            let known: Vec<_> = fields.iter().map(|field| format!("`{field}`")).collect();
            self.fault::<()>(value, format!("the field `{short}` is unknown: {what} has {}", known.join(", ")));
        }
        Some(members)
    }

    fn word<T: Copy>(&mut self, members: &[(String, Node)], field: &str, words: &[(&str, T)]) -> Option<T> {
        let node = member(members, field)?;
        let text = self.string(node)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        found.or_else(|| {
            let all: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            self.fault(node, format!("`{field}` is one of {}", all.join(", ")))
        })
    }

    fn boolean(&mut self, members: &[(String, Node)], field: &str, default: bool) -> bool {
        match member(members, field) {
            Some(Node { shape: Shape::Bool(value), .. }) => *value,
            Some(node) => {
                self.fault(node, format!("`{field}` is true or false, not {}", node.kind())).unwrap_or(default)
            }
            None => default,
        }
    }

    /// What callers are told in a header: short, and of letters that a header has.
    fn name(&mut self, node: &Node) -> Option<String> {
        let name = self.string(node)?;
        let plain = |one: char| one.is_ascii_alphanumeric() || " ._:-".contains(one);
        if name.is_empty() || name.len() > LONGEST_NAME || name.trim() != name || !name.chars().all(plain) {
            let text = format!(
                "a `name` has 1 to {LONGEST_NAME} letters and digits of ASCII, `.`, `_`, `:`, `-` and spaces between them"
            );
            return self.fault(node, text);
        }
        Some(name)
    }

    fn text(&mut self, members: &[(String, Node)], field: &str) -> Option<String> {
        member(members, field).and_then(|node| self.string(node))
    }

    fn string(&mut self, node: &Node) -> Option<String> {
        match &node.shape {
            Shape::Text(text) => Some(text.clone()),
            _ => self.fault(node, format!("expected a string, not {}", node.kind())),
        }
    }
}

fn member<'n>(members: &'n [(String, Node)], field: &str) -> Option<&'n Node> {
    members.iter().find(|(key, _)| key == field).map(|(_, node)| node)
}

fn types() -> String {
    CheckType::ALL.map(|one| format!("`{}`", one.name())).join(", ")
}
