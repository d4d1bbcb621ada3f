//! One thing that a function asks for and a deployer grants, in the words of `--grant`.

use std::fmt;
use std::str::FromStr;

use crate::name::SkillName;
use crate::setting::SettingName;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Capability {
    /// Anybody may call it.
    Public,
    Secret(String),
    Config(String),
    Host(String),
    Skill(String),
    KeyValue,
}

/// The text names no capability.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCapability {
    #[error(
        "`{0}` is no capability; there are public, secret:NAME, config:NAME, host:NAME, skill:NAME, kv, and `all` for \
         everything that is asked for"
    )]
    Kind(String),
    #[error("{0}")]
    Name(String),
    #[error(
        "`{0}` cannot name a host: use a lower-case name such as `api.example.com`, `*.example.com` or \
         `api.example.com:8443`"
    )]
    Host(String),
}

impl Capability {
    /// A capability whose name can be what it says.
    pub fn checked(self) -> Result<Self, BadCapability> {
        let fault = match &self {
            Self::Public | Self::KeyValue => None,
            Self::Secret(name) | Self::Config(name) => SettingName::parse(name).err().map(|fault| fault.to_string()),
            Self::Skill(name) => SkillName::parse_skill(name).err().map(|fault| fault.to_string()),
            Self::Host(pattern) if is_host_pattern(pattern) => None,
            Self::Host(pattern) => return Err(BadCapability::Host(pattern.chars().take(80).collect())),
        };
        fault.map_or(Ok(self), |fault| Err(BadCapability::Name(fault)))
    }
}

impl FromStr for Capability {
    type Err = BadCapability;

    fn from_str(text: &str) -> Result<Self, BadCapability> {
        let capability = match text.split_once(':') {
            None if text == "public" => Self::Public,
            None if matches!(text, "kv" | "key-value") => Self::KeyValue,
            Some(("secret", name)) => Self::Secret(name.to_owned()),
            Some(("config", name)) => Self::Config(name.to_owned()),
            Some(("host", name)) => Self::Host(name.to_owned()),
            Some(("skill", name)) => Self::Skill(name.to_owned()),
            _ => return Err(BadCapability::Kind(text.chars().take(80).collect())),
        };
        capability.checked()
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => formatter.write_str("public"),
            Self::Secret(name) => write!(formatter, "secret:{name}"),
            Self::Config(name) => write!(formatter, "config:{name}"),
            Self::Host(name) => write!(formatter, "host:{name}"),
            Self::Skill(name) => write!(formatter, "skill:{name}"),
            Self::KeyValue => formatter.write_str("kv"),
        }
    }
}

/// A name of DNS, or an IPv4 address, or `*.` before a name of two labels and more, or `*`; and perhaps a port.
fn is_host_pattern(text: &str) -> bool {
    let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
    let good_port = port.is_none_or(|port| !port.starts_with(['0', '+']) && port.parse::<u16>().is_ok());
    let (name, least) = host.strip_prefix("*.").map_or((host, 1), |name| (name, 2));
    let label = |label: &str| {
        let plain = label.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
        plain && !label.is_empty() && label.len() <= 63 && !label.starts_with('-') && !label.ends_with('-')
    };
    let named = name.len() <= 253 && name.split('.').count() >= least && name.split('.').all(label);
    good_port && (named || host == "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_read_back_what_they_print() {
        for text in ["public", "secret:API_KEY", "config:REGION", "host:*.example.com:8443", "skill:echo", "kv"] {
            assert_eq!(text.parse::<Capability>().unwrap().to_string(), text);
        }
        assert_eq!("key-value".parse(), Ok(Capability::KeyValue));
    }

    #[test]
    fn faults_say_what_there_is() {
        let fault = |text: &str| text.parse::<Capability>().unwrap_err().to_string();
        assert!(fault("network").starts_with("`network` is no capability; there are public, secret:NAME"));
        assert!(fault("secret:a-b").starts_with("`a-b` cannot name a secret"));
        assert!(fault("skill:No").starts_with("`No` cannot name a function"));
    }

    #[test]
    fn hosts_are_names_with_or_without_a_wildcard_and_a_port() {
        for good in
            ["example.com", "*.example.com", "localhost", "10.0.0.1:8080", "a-b.c_d.example:65535", "*", "*:443"]
        {
            assert!(is_host_pattern(good), "{good}");
        }
        let bad = "** *.com Example.com a..b .a a. http://a.b a.b/x *a.b.c a.*.c a:0 a:065 a:65536 a: a:+1 u@a.b [::1] \
                   é.com -a.b a-.b";
        assert!(!is_host_pattern("") && !is_host_pattern("a b"));
        for bad in bad.split_whitespace() {
            assert!(!is_host_pattern(bad), "{bad}");
        }
    }
}
