//! The words in which the two families differ.

use pleat_domain::message::Role;
use pleat_domain::task::{Door, TaskState};

use crate::part::read::Form;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    V03,
    V1,
}

impl Dialect {
    /// The door that a task is recorded under which came in these words.
    pub const fn door(self) -> Door {
        match self {
            Self::V03 => Door::A2a03,
            Self::V1 => Door::A2a10,
        }
    }

    /// The same for a receiver of notifications.
    pub const fn of_push(self) -> pleat_domain::push::Dialect {
        match self {
            Self::V03 => pleat_domain::push::Dialect::A2a03,
            Self::V1 => pleat_domain::push::Dialect::A2a10,
        }
    }

    /// What an object says of itself, where objects do.
    pub(super) const fn kind(self, kind: &'static str) -> Option<&'static str> {
        match self {
            Self::V03 => Some(kind),
            Self::V1 => None,
        }
    }

    pub(super) const fn form(self) -> Form {
        match self {
            Self::V03 => Form::Kind,
            Self::V1 => Form::Member,
        }
    }

    pub(super) const fn state(self, state: TaskState) -> &'static str {
        match self {
            Self::V03 => state.as_str(),
            Self::V1 => match state {
                TaskState::Submitted => "TASK_STATE_SUBMITTED",
                TaskState::Working => "TASK_STATE_WORKING",
                TaskState::InputRequired => "TASK_STATE_INPUT_REQUIRED",
                TaskState::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
                TaskState::Completed => "TASK_STATE_COMPLETED",
                TaskState::Failed => "TASK_STATE_FAILED",
                TaskState::Canceled => "TASK_STATE_CANCELED",
                TaskState::Rejected => "TASK_STATE_REJECTED",
            },
        }
    }

    pub(super) fn state_of(self, text: &str) -> Option<TaskState> {
        TaskState::ALL.into_iter().find(|state| self.state(*state) == text)
    }

    pub(super) const fn role(self, role: Role) -> &'static str {
        match (self, role) {
            (Self::V03, Role::User) => "user",
            (Self::V03, Role::Agent) => "agent",
            (Self::V1, Role::User) => "ROLE_USER",
            (Self::V1, Role::Agent) => "ROLE_AGENT",
        }
    }

    pub(super) fn role_of(self, text: &str) -> Option<Role> {
        [Role::User, Role::Agent].into_iter().find(|role| self.role(*role) == text)
    }

    /// A text that may be left empty instead of out: in ProtoJSON, that is the same.
    pub(super) fn given(self, text: Option<&str>) -> bool {
        match self {
            Self::V03 => text.is_some(),
            Self::V1 => text.is_some_and(|text| !text.is_empty()),
        }
    }
}
