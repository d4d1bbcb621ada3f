//! The fields of an object, each asked for once; what nobody asked for is a fault.

use crate::document::{Data, Member, Node};
use crate::fault::{Report, below, quoted, similar};

pub(super) struct Fields<'a> {
    members: &'a [Member],
    pointer: String,
    asked: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// `what` names the object in messages.
    pub(super) fn of(node: &'a Node, pointer: &str, what: &str, report: &mut Report) -> Option<Self> {
        match &node.data {
            Data::Object(members) => Some(Self { members, pointer: pointer.to_owned(), asked: Vec::new() }),
            _ => {
                let message = format!("{what} is an object, this is {}", node.kind());
                report.fault(node.at, pointer, message, "write it as `key: value` pairs");
                None
            }
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.members.iter().any(|member| member.key == key)
    }

    /// `null` is the same as leaving the field out: programs write it so.
    pub(super) fn optional(&mut self, key: &'static str) -> Option<&'a Node> {
        self.asked.push(key);
        let found = self.members.iter().find(|member| member.key == key).map(|member| &member.value);
        found.filter(|node| !matches!(node.data, Data::Null))
    }

    pub(super) fn required(&mut self, key: &'static str, object: &Node, report: &mut Report) -> Option<&'a Node> {
        let found = self.optional(key);
        if found.is_none() {
            report.fault(object.at, &self.pointer, format!("`{key}` is missing"), format!("add `{key}`"));
        }
        found
    }

    pub(super) fn pointer(&self, key: &str) -> String {
        below(&self.pointer, key)
    }

    pub(super) fn finish(self, report: &mut Report) {
        for member in self.members.iter().filter(|member| !self.asked.contains(&member.key.as_str())) {
            let hint = match similar(&member.key, self.asked.iter().copied()) {
                Some(one) => format!("did you mean `{one}`?"),
                None => format!(
                    "take it out; there are {}",
                    self.asked.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
                ),
            };
            report.fault(
                member.at,
                below(&self.pointer, &member.key),
                format!("the field {} is not known", quoted(&member.key)),
                hint,
            );
        }
    }
}
