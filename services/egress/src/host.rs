//! Hosts as people write them in grants and settings: `api.example.com`, `*.example.com:8443`, `[2001:db8::1]`, `*`.

use std::str::FromStr;

use url::Host;

/// The text names no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a host; write `api.example.com`, `*.example.com` or `api.example.com:8443`")]
pub struct BadHost(pub String);

/// One host, or all below one, on any port or one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    name: HostName,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostName {
    Any,
    Exact(Host<String>),
    /// One or more labels before this name.
    Below(String),
}

impl HostPattern {
    pub(crate) fn matches(&self, host: &Host<String>, port: u16) -> bool {
        self.port.is_none_or(|own| own == port) && self.name.matches(host)
    }
}

impl FromStr for HostPattern {
    type Err = BadHost;

    fn from_str(text: &str) -> Result<Self, BadHost> {
        let written = Written::parse(text)?;
        let port = written.port.map(|port| port.parse().map_err(|_| BadHost(text.to_owned()))).transpose()?;
        let name = match written.host {
            "*" => HostName::Any,
            _ => HostName::parse(&written).ok_or_else(|| BadHost(text.to_owned()))?,
        };
        Ok(Self { name, port })
    }
}

impl HostName {
    pub(crate) fn parse(written: &Written<'_>) -> Option<Self> {
        if written.bracketed {
            return written.host.parse().ok().map(|address| Self::Exact(Host::Ipv6(address)));
        }
        match written.host.strip_prefix("*.") {
            None => Host::parse(written.host).ok().and_then(plain).map(Self::Exact),
            Some(rest) => match plain(Host::parse(rest).ok()?)? {
                Host::Domain(name) => Some(Self::Below(name)),
                Host::Ipv4(_) | Host::Ipv6(_) => None,
            },
        }
    }

    pub(crate) fn matches(&self, host: &Host<String>) -> bool {
        match (self, host) {
            (Self::Any, _) => true,
            (Self::Exact(own), host) => own == host,
            (Self::Below(parent), Host::Domain(name)) => {
                name.strip_suffix(parent.as_str()).is_some_and(|labels| labels.len() > 1 && labels.ends_with('.'))
            }
            (Self::Below(_), _) => false,
        }
    }
}

/// The one spelling of a host: without the dot that may end a name. A name that has others' meaning in it is none.
pub(crate) fn plain(host: Host<String>) -> Option<Host<String>> {
    let Host::Domain(name) = host else { return Some(host) };
    let name = name.strip_suffix('.').unwrap_or(&name);
    let proper = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte == b'-' || byte == b'_' || byte.is_ascii_alphanumeric())
    };
    name.split('.').all(proper).then(|| Host::Domain(name.to_owned()))
}

/// `host`, `host:port` or `[address]:port`, taken apart.
pub(crate) struct Written<'a> {
    pub(crate) host: &'a str,
    pub(crate) bracketed: bool,
    pub(crate) port: Option<&'a str>,
}

impl<'a> Written<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self, BadHost> {
        let bad = || BadHost(text.to_owned());
        if let Some(rest) = text.strip_prefix('[') {
            let (host, after) = rest.split_once(']').ok_or_else(bad)?;
            let port = if after.is_empty() { None } else { Some(after.strip_prefix(':').ok_or_else(bad)?) };
            return Ok(Self { host, bracketed: true, port });
        }
        match text.split_once(':') {
            None => Ok(Self { host: text, bracketed: false, port: None }),
            Some((_, port)) if port.contains(':') => Err(bad()),
            Some((host, port)) => Ok(Self { host, bracketed: false, port: Some(port) }),
        }
    }
}

/// The hosts that one function was granted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostGrants(Vec<HostPattern>);

impl HostGrants {
    /// For the platform's own requests, which no grant limits.
    pub fn any() -> Self {
        Self(vec![HostPattern { name: HostName::Any, port: None }])
    }

    pub fn parse<'a>(hosts: impl IntoIterator<Item = &'a str>) -> Result<Self, BadHost> {
        hosts.into_iter().map(str::parse).collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn cover(&self, host: &Host<String>, port: u16) -> bool {
        self.0.iter().any(|pattern| pattern.matches(host, port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, host: &str, port: u16) -> bool {
        let host = plain(Host::parse(host).unwrap()).unwrap();
        pattern.parse::<HostPattern>().unwrap().matches(&host, port)
    }

    #[test]
    fn a_name_is_itself_in_every_spelling() {
        assert!(matches("api.example.com", "API.example.COM.", 443));
        assert!(matches("bücher.example", "xn--bcher-kva.example", 443));
        assert!(matches("127.0.0.1", "0x7f.1", 80));
        assert!(!matches("example.com", "api.example.com", 443));
        assert!(!matches("api.example.com", "api.example.com.evil.net", 443));
    }

    #[test]
    fn a_star_stands_for_one_label_or_more() {
        assert!(matches("*.example.com", "a.example.com", 443));
        assert!(matches("*.example.com", "a.b.example.com", 443));
        assert!(!matches("*.example.com", "example.com", 443));
        assert!(!matches("*.example.com", "evilexample.com", 443));
        assert!(matches("*", "anything.example", 443) && matches("*:443", "[::1]", 443));
    }

    #[test]
    fn a_port_narrows() {
        assert!(matches("example.com:8443", "example.com", 8443));
        assert!(!matches("example.com:8443", "example.com", 443));
        assert!(matches("[2001:db8::1]:80", "[2001:DB8::1]", 80));
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in [
            "",
            "https://example.com",
            "example.com/path",
            "a@b",
            "*.",
            "*.1.2.3.4",
            "a.*.com",
            "a b",
            "a:b",
            "a:99999",
            "::1",
            "[::1",
            "a..b",
        ] {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
    }
}
