//! From spots to findings and placeholders: what overlaps becomes one.

use crate::analysis::{Plan, Spot};
use crate::finding::{Finding, Verdict};
use crate::kind::Kind;
use crate::policy::{Action, Check, CheckType, Mode};
use crate::session::Session;
use crate::walk::{Leaf, Place};

/// Spots that overlap, as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cluster {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The spot that decides: of the strictest action, then of the most telling kind.
    pub(crate) spot: Spot,
    pub(crate) action: Action,
    /// What names the placeholder: of all spots that are to be redacted, the most telling.
    pub(crate) label: Kind,
    /// All of it has begun in another text, which has the placeholder.
    pub(crate) tail: bool,
}

/// The clusters of a text: what is enforced, and what would have been.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clusters {
    pub(crate) enforced: Vec<Cluster>,
    pub(crate) shadow: Vec<Cluster>,
}

impl Clusters {
    /// The strictest action that is enforced.
    pub(crate) fn action(&self) -> Option<Action> {
        self.enforced.iter().map(|cluster| cluster.action).max()
    }
}

pub(crate) fn clusters(plan: &Plan, spots: &[Spot]) -> Clusters {
    let of = |mode: Mode| {
        let mut these: Vec<(Spot, Action)> = spots
            .iter()
            .filter_map(|spot| {
                plan.checks.get(spot.check).filter(|check| check.mode == mode).map(|check| (*spot, check.action))
            })
            .collect();
        these.sort_by_key(|(spot, _)| (spot.start, spot.end));
        merged(&these)
    };
    Clusters { enforced: of(Mode::Enforce), shadow: of(Mode::Shadow) }
}

fn merged(spots: &[(Spot, Action)]) -> Vec<Cluster> {
    let mut clusters: Vec<Cluster> = Vec::new();
    for (spot, action) in spots {
        let (start, end, label, tail) = (spot.start, spot.end, spot.kind, spot.goes_on);
        let one = Cluster { start, end, spot: *spot, action: *action, label, tail };
        match clusters.last_mut() {
            Some(last) if spot.start < last.end => {
                last.end = last.end.max(spot.end);
                last.tail &= spot.goes_on;
                if *action > last.action {
                    last.label = spot.kind;
                } else if *action == last.action {
                    last.label = last.label.min(spot.kind);
                }
                if (*action, std::cmp::Reverse(spot.kind)) > (last.action, std::cmp::Reverse(last.spot.kind)) {
                    last.spot = *spot;
                    last.action = *action;
                }
            }
            _ => clusters.push(one),
        }
    }
    clusters
}

/// A finding for each cluster. Placeholders are given out in the order of the text.
pub(crate) fn report(
    plan: &Plan,
    leaf: &Leaf,
    clusters: &Clusters,
    redacts: bool,
    session: &mut Session,
    verdict: &mut Verdict,
) {
    let all = clusters.enforced.iter().map(|one| (one, true)).chain(clusters.shadow.iter().map(|one| (one, false)));
    for (cluster, enforced) in all.filter(|(cluster, _)| !cluster.tail) {
        if verdict.is_full() && (!enforced || cluster.action != Action::Block) {
            if enforced {
                verdict.raise(cluster.action);
            }
            continue;
        }
        let value = leaf.text.get(cluster.start..cluster.end).unwrap_or_default();
        let shown = redacts && enforced && cluster.action == Action::Redact && leaf.place != Place::Number;
        verdict.add(finding(plan, cluster, value, leaf.pointer.clone(), shown, session));
    }
}

pub(crate) fn finding(
    plan: &Plan,
    cluster: &Cluster,
    value: &str,
    pointer: String,
    redacted: bool,
    session: &mut Session,
) -> Finding {
    let hash = session.hash(value);
    let placeholder = redacted.then(|| replacement(cluster, &hash, session)).filter(|text| !text.is_empty());
    let check = plan.checks.get(cluster.spot.check);
    Finding {
        check: check.map_or(CheckType::Pii, |check| check.check),
        rule: check.map_or_else(String::new, |check| rule(check, &cluster.spot)),
        kind: cluster.spot.kind,
        action: cluster.action,
        severity: check.map_or(crate::policy::Severity::High, |check| check.severity),
        mode: check.map_or(Mode::Enforce, |check| check.mode),
        pointer,
        hash,
        placeholder,
    }
}

/// What stands in the place of a cluster. Characters that nobody sees go without one.
pub(crate) fn replacement(cluster: &Cluster, hash: &str, session: &mut Session) -> String {
    match cluster.label {
        Kind::Invisible | Kind::Bidi => String::new(),
        label => session.placeholder(label, hash),
    }
}

/// A text with its clusters replaced.
pub(crate) fn replaced(text: &str, clusters: &[Cluster], session: &mut Session) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for cluster in clusters.iter().filter(|cluster| cluster.action == Action::Redact) {
        out.push_str(text.get(at..cluster.start).unwrap_or_default());
        if !cluster.tail {
            let hash = session.hash(text.get(cluster.start..cluster.end).unwrap_or_default());
            out.push_str(&replacement(cluster, &hash, session));
        }
        at = cluster.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// What a spot is called: by the name that the policy gives the check, or by the check and what of it was found.
pub(crate) fn rule(check: &Check, spot: &Spot) -> String {
    if let Some(name) = &check.name {
        return name.clone();
    }
    let check = check.check.name();
    match spot.kind {
        Kind::Pattern | Kind::Denied => check.to_owned(),
        Kind::NationalId | Kind::ApiKey | Kind::Wallet => format!("{check}.{}.{}", spot.kind.name(), spot.rule),
        Kind::Url | Kind::Toxicity | Kind::Injection => format!("{check}.{}", spot.rule),
        kind => format!("{check}.{}", kind.name()),
    }
}
