//! Methods by name, and the versions of the protocol that have them.
//!
//! Names decide: no two families use one name for different things, but for `tasks/get`, `tasks/cancel` and
//! `tasks/resubscribe`, which 0.1 and 0.3 share. A version that is asked for narrows the choice and never widens it.

/// What is to be done, in whichever words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Subscribe,
    SetPush,
    GetPush,
    ListPushes,
    DeletePush,
    ExtendedCard,
}

/// A version that is served, without its patch number: that one is never negotiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    V01,
    V03,
    V1,
}

/// A version that is not served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("version `{requested}` of the protocol is not supported here; supported: {supported}")]
pub struct UnknownVersion {
    pub requested: String,
    /// Those that are, where it was asked for.
    pub supported: &'static str,
}

impl UnknownVersion {
    pub fn new(requested: &str) -> Self {
        Self { requested: requested.chars().take(40).collect(), supported: SUPPORTED }
    }
}

/// Those that a client may ask for, the latest first.
pub const SUPPORTED: &str = "1.0, 0.3, 0.1";

impl Version {
    /// What `A2A-Version` says. Nothing said is no choice: the method's name makes it.
    pub fn asked(text: &str) -> Result<Option<Self>, UnknownVersion> {
        let mut numbers = text.trim().splitn(3, '.');
        let version = match (numbers.next(), numbers.next()) {
            (Some(""), None) => return Ok(None),
            (Some("1"), Some("0")) => Some(Self::V1),
            (Some("0"), Some("3")) => Some(Self::V03),
            (Some("0"), Some("1")) => Some(Self::V01),
            _ => None,
        };
        let patch = numbers.next().is_none_or(|patch| patch.parse::<u32>().is_ok());
        version.filter(|_| patch).map(Some).ok_or_else(|| UnknownVersion::new(text))
    }
}

/// A method, by the family that its name belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// 0.1 alone.
    Legacy(Operation),
    /// 0.1 and 0.3: the task decides in which words it is answered.
    Shared(Operation),
    V03(Operation),
    V1(Operation),
}

impl Method {
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "tasks/send" => Self::Legacy(Operation::Send),
            "tasks/sendSubscribe" => Self::Legacy(Operation::Stream),
            "tasks/pushNotification/set" => Self::Legacy(Operation::SetPush),
            "tasks/pushNotification/get" => Self::Legacy(Operation::GetPush),
            "tasks/get" => Self::Shared(Operation::Get),
            "tasks/cancel" => Self::Shared(Operation::Cancel),
            "tasks/resubscribe" => Self::Shared(Operation::Subscribe),
            "message/send" => Self::V03(Operation::Send),
            "message/stream" => Self::V03(Operation::Stream),
            "tasks/list" => Self::V03(Operation::List),
            "tasks/pushNotificationConfig/set" => Self::V03(Operation::SetPush),
            "tasks/pushNotificationConfig/get" => Self::V03(Operation::GetPush),
            "tasks/pushNotificationConfig/list" => Self::V03(Operation::ListPushes),
            "tasks/pushNotificationConfig/delete" => Self::V03(Operation::DeletePush),
            "agent/getAuthenticatedExtendedCard" => Self::V03(Operation::ExtendedCard),
            "SendMessage" => Self::V1(Operation::Send),
            "SendStreamingMessage" => Self::V1(Operation::Stream),
            "GetTask" => Self::V1(Operation::Get),
            "ListTasks" => Self::V1(Operation::List),
            "CancelTask" => Self::V1(Operation::Cancel),
            "SubscribeToTask" => Self::V1(Operation::Subscribe),
            "CreateTaskPushNotificationConfig" => Self::V1(Operation::SetPush),
            "GetTaskPushNotificationConfig" => Self::V1(Operation::GetPush),
            "ListTaskPushNotificationConfigs" => Self::V1(Operation::ListPushes),
            "DeleteTaskPushNotificationConfig" => Self::V1(Operation::DeletePush),
            "GetExtendedAgentCard" => Self::V1(Operation::ExtendedCard),
            _ => return None,
        })
    }

    /// Whether a version that was asked for has it.
    pub const fn is_of(self, version: Version) -> bool {
        match version {
            Version::V01 => matches!(self, Self::Legacy(_) | Self::Shared(_)),
            Version::V03 => matches!(self, Self::V03(_) | Self::Shared(_)),
            Version::V1 => matches!(self, Self::V1(_)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_count_without_their_patch_numbers() {
        for (text, version) in
            [("1.0", Version::V1), ("1.0.1", Version::V1), ("0.3", Version::V03), ("0.3.0", Version::V03)]
        {
            assert_eq!(Version::asked(text), Ok(Some(version)), "{text}");
        }
        assert_eq!(Version::asked(" "), Ok(None));
        for text in ["1", "1.1", "0.5", "0.2", "2.0", "99.0", "v1.0", "1.0.x", "1.0, 0.3", "1.0.1.2", "one", "1.", "."]
        {
            assert_eq!(Version::asked(text), Err(UnknownVersion::new(text)), "{text}");
        }
    }

    #[test]
    fn a_version_has_its_own_methods_only() {
        let of = |name: &str, version| Method::named(name).unwrap().is_of(version);
        assert!(of("SendMessage", Version::V1) && !of("SendMessage", Version::V03));
        assert!(of("message/send", Version::V03) && !of("message/send", Version::V1));
        assert!(of("tasks/get", Version::V03) && of("tasks/get", Version::V01) && !of("tasks/get", Version::V1));
        assert!(of("tasks/send", Version::V01) && !of("tasks/send", Version::V03));
        assert_eq!(Method::named("sendMessage"), None);
    }
}
