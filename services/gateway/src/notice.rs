//! What the receiver of a push notification is told, in the dialect in which it was registered.

use pleat_a2a::legacy;
use pleat_a2a::messages::{self, Events, Show, TaskView};
use pleat_domain::{Dialect, Event, Task};
use pleat_engine::Notice;

const JSON: &str = "application/json";

/// `None`: there is nothing in it that a caller may see. 1.0 tells the event, earlier versions the whole task.
pub(crate) fn of(dialect: Dialect, task: &Task, event: &Event) -> Option<Notice> {
    let (content_type, body) = match dialect {
        Dialect::A2a01 => (JSON, serde_json::to_vec(&legacy::task_json(task, None))),
        Dialect::A2a03 => (JSON, serde_json::to_vec(&TaskView::new(messages::Dialect::V03, task, Show::whole(None)))),
        Dialect::A2a10 => {
            let events = Events::new(messages::Dialect::V1, task);
            ("application/a2a+json", serde_json::to_vec(&events.event(event)?))
        }
    };
    Some(Notice { content_type, body: body.ok()?.into() })
}
