//! Notices as text: the node that speaks, a letter for the kind, and what it is about. A payload has less than 8,000
//! bytes. What a later version says and this one does not know is passed over.

use pleat_domain::{SessionId, TaskId, TenantId, TenantSlug};
use uuid::Uuid;

use crate::node::NodeId;
use crate::wake::Wake;

/// Ids in one line: each is 32 digits.
const IDS: usize = 240;
/// Lines about tasks that are sent at once; of more tasks it is only said that there are many.
const LINES: usize = 4;
const DIGITS: usize = 32;

/// What was said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// By another node that has just begun to listen.
    Hello,
    Wake(Wake),
}

pub(super) fn hello(node: NodeId) -> String {
    line(node, 'h', "")
}

pub(super) fn write(node: NodeId, tasks: &[TaskId], others: &[Wake]) -> Vec<String> {
    let mut lines: Vec<String> = match tasks.chunks(IDS) {
        chunks if chunks.len() > LINES => vec![line(node, 'l', "")],
        chunks => chunks.map(|ids| line(node, 't', &digits(ids))).collect(),
    };
    lines.extend(others.iter().map(|wake| match wake {
        Wake::Tasks(ids) => line(node, 't', &digits(ids.get(..IDS).unwrap_or(ids))),
        Wake::Cancels(ids) => line(node, 'c', &digits(ids.get(..IDS).unwrap_or(ids))),
        Wake::Catalog(tenant) => line(node, 'g', &tenant.as_uuid().simple().to_string()),
        Wake::Key(id) => line(node, 'k', id),
        Wake::Session(id) => line(node, 'm', &id.to_string()),
        Wake::Tenant(tenant, slug) => line(node, 'd', &format!("{}{slug}", tenant.as_uuid().simple())),
        Wake::Sweep => line(node, 's', ""),
        Wake::Look => line(node, 'l', ""),
    }));
    lines.dedup();
    lines
}

/// `None`: our own, or nothing that is known here.
pub(super) fn read(node: NodeId, text: &str) -> Option<Heard> {
    let (speaker, rest) = text.split_at_checked(DIGITS)?;
    if Uuid::try_parse(speaker).ok()? == node.as_uuid() {
        return None;
    }
    let (kind, body) = rest.split_at_checked(1)?;
    let wake = match kind {
        "h" => return Some(Heard::Hello),
        "t" => Wake::Tasks(ids(body)?),
        "c" => Wake::Cancels(ids(body)?),
        "g" => Wake::Catalog(TenantId::from_row(Uuid::try_parse(body).ok()?)),
        "k" => Wake::Key(body.to_owned()),
        "m" => Wake::Session(SessionId::parse(body)?),
        "d" => {
            let (tenant, slug) = body.split_at_checked(DIGITS)?;
            Wake::Tenant(TenantId::from_row(Uuid::try_parse(tenant).ok()?), TenantSlug::parse(slug).ok()?)
        }
        "s" => Wake::Sweep,
        "l" => Wake::Look,
        _ => return None,
    };
    Some(Heard::Wake(wake))
}

fn line(node: NodeId, kind: char, body: &str) -> String {
    format!("{}{kind}{body}", node.as_uuid().simple())
}

fn digits(ids: &[TaskId]) -> String {
    ids.iter().map(|id| id.as_uuid().simple().to_string()).collect()
}

fn ids(mut body: &str) -> Option<Vec<TaskId>> {
    let mut ids = Vec::with_capacity(body.len() / DIGITS);
    while !body.is_empty() {
        let (first, rest) = body.split_at_checked(DIGITS)?;
        ids.push(TaskId::from_uuid(Uuid::try_parse(first).ok()?));
        body = rest;
    }
    Some(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> NodeId {
        NodeId::from_uuid(Uuid::now_v7())
    }

    #[test]
    fn what_one_node_writes_another_reads_and_itself_passes_over() {
        let (speaker, listener) = (node(), node());
        let tasks = vec![TaskId::new(), TaskId::new()];
        let tenant = TenantId::from_row(Uuid::now_v7());
        let others = [
            Wake::Cancels(vec![TaskId::new()]),
            Wake::Catalog(tenant),
            Wake::Key("abc".to_owned()),
            Wake::Session(SessionId::from_random([7; 16])),
            Wake::Tenant(tenant, TenantSlug::parse("acme").unwrap()),
            Wake::Sweep,
            Wake::Look,
        ];
        let lines = write(speaker, &tasks, &others);
        let heard: Vec<_> = lines.iter().filter_map(|line| read(listener, line)).collect();
        let said = std::iter::once(Wake::Tasks(tasks)).chain(others);
        assert_eq!(heard, said.map(Heard::Wake).collect::<Vec<_>>());
        assert!(lines.iter().all(|line| read(speaker, line).is_none()));
        assert_eq!(read(listener, &hello(speaker)), Some(Heard::Hello));
    }

    #[test]
    fn a_line_fits_a_payload_and_too_many_tasks_become_one_word() {
        let many: Vec<TaskId> = (0..IDS * LINES).map(|_| TaskId::new()).collect();
        let lines = write(node(), &many, &[]);
        assert_eq!(lines.len(), LINES);
        assert!(lines.iter().all(|line| line.len() < 8_000));
        let more: Vec<TaskId> = many.into_iter().chain([TaskId::new()]).collect();
        let lines = write(node(), &more, &[]);
        assert_eq!(lines.iter().filter_map(|line| read(node(), line)).collect::<Vec<_>>(), [Heard::Wake(Wake::Look)]);
    }

    #[test]
    fn nonsense_and_the_words_of_later_versions_are_passed_over() {
        let speaker = node().as_uuid().simple().to_string();
        for text in ["", "x", &speaker, &format!("{speaker}z1"), &format!("{speaker}t12"), &format!("{speaker}g-")] {
            assert_eq!(read(node(), text), None, "{text}");
        }
    }
}
