//! What the receiver of a push notification is told, in the dialect in which it was registered.

use pleat_a2a::legacy;
use pleat_domain::{Dialect, Event, Task};
use pleat_engine::Notice;

/// `None`: there is nothing in it that a caller may see.
pub(crate) fn of(dialect: Dialect, task: &Task, _: &Event) -> Option<Notice> {
    match dialect {
        Dialect::A2a01 | Dialect::A2a03 | Dialect::A2a10 => {
            let body = serde_json::to_vec(&legacy::task_json(task, None)).ok()?;
            Some(Notice { content_type: "application/json", body: body.into() })
        }
    }
}
