//! Extensions of the protocol: which of those that a client names are in use.

use serde_json::{Value, json};

use crate::card::{SCHEMAS_EXTENSION, TRANSPORT_EXTENSION};

/// `tasks/list` for callers of 0.3.
pub const TASK_LIST: &str = "urn:pleat:a2a:task-list:v1";

/// Everything that may be asked for. None is required of anybody.
const KNOWN: [&str; 4] = [TASK_LIST, crate::MESSAGE_ONCE, TRANSPORT_EXTENSION, SCHEMAS_EXTENSION];

/// Those that a card declares without saying more: they change what a request does, for who asks for them.
pub(crate) fn declared() -> [Value; 2] {
    let declare = |uri: &str, description: &str| json!({ "uri": uri, "description": description });
    [
        declare(TASK_LIST, "The method tasks/list for callers of 0.3: ListTasks in the words of that version"),
        declare(
            crate::MESSAGE_ONCE,
            "A message counts once, by its messageId: sent again, it is answered with its task",
        ),
    ]
}

/// Those of a header's values that are in use now, in the order in which they were named, each once.
pub fn activated<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'static str> {
    let mut active = Vec::new();
    for name in values.flat_map(|value| value.split(',')).map(str::trim) {
        if let Some(known) = KNOWN.into_iter().find(|known| *known == name)
            && !active.contains(&known)
        {
            active.push(known);
        }
    }
    active
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_is_activated_and_once() {
        let values = ["https://example.com/x, urn:pleat:a2a:task-list:v1", "urn:pleat:a2a:task-list:v1,,"];
        assert_eq!(activated(values.into_iter()), [TASK_LIST]);
        assert!(activated(["", "x"].into_iter()).is_empty());
    }
}
