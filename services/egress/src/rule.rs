//! The operator's allow-list: destinations that may be reached though they are not public.

use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;
use url::Host;

use crate::host::{BadHost, HostName, Written};

/// `host`, `address` or `address/prefix`, each with a port: none for the usual ones, `:8081`, or `:*` for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowRule {
    destination: Destination,
    port: Port,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Destination {
    /// This name, whatever its address.
    Name(HostName),
    /// These addresses, whoever names them.
    Net(IpNet),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    Usual,
    One(u16),
    Any,
}

impl AllowRule {
    pub(crate) fn covers(&self, host: &Host<String>, address: IpAddr, port: u16, usual: &[u16]) -> bool {
        let reached = match &self.destination {
            Destination::Name(name) => name.matches(host),
            Destination::Net(net) => net.contains(&address),
        };
        reached
            && match self.port {
                Port::Usual => usual.contains(&port),
                Port::One(own) => own == port,
                Port::Any => true,
            }
    }
}

impl FromStr for AllowRule {
    type Err = BadHost;

    fn from_str(text: &str) -> Result<Self, BadHost> {
        let bad = || BadHost(text.to_owned());
        let written = Written::parse(text)?;
        let port = match written.port {
            None => Port::Usual,
            Some("*") => Port::Any,
            Some(port) => Port::One(port.parse().map_err(|_| bad())?),
        };
        let destination = match written.host.contains('/') {
            true => Destination::Net(written.host.parse().map_err(|_| bad())?),
            false => match HostName::parse(&written).ok_or_else(bad)? {
                HostName::Exact(Host::Ipv4(address)) => Destination::Net(IpAddr::from(address).into()),
                HostName::Exact(Host::Ipv6(address)) => Destination::Net(IpAddr::from(address).into()),
                name => Destination::Name(name),
            },
        };
        Ok(Self { destination, port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(rule: &str, host: &str, address: &str, port: u16) -> bool {
        let rule: AllowRule = rule.parse().unwrap();
        rule.covers(&Host::parse(host).unwrap(), address.parse().unwrap(), port, &[443])
    }

    #[test]
    fn a_name_is_allowed_at_any_address_and_an_address_under_any_name() {
        assert!(covers("git.internal", "git.internal", "10.0.0.1", 443));
        assert!(!covers("git.internal", "other.internal", "10.0.0.1", 443));
        assert!(covers("10.0.0.0/8", "git.internal", "10.1.2.3", 443));
        assert!(!covers("10.0.0.0/8", "git.internal", "11.1.2.3", 443));
        assert!(covers("[fd00::/8]:80", "[fd00::1]", "fd00::1", 80));
        assert!(covers("127.0.0.1", "localhost", "127.0.0.1", 443));
    }

    #[test]
    fn a_rule_opens_the_usual_ports_or_those_it_names() {
        assert!(!covers("git.internal", "git.internal", "10.0.0.1", 22));
        assert!(covers("git.internal:22", "git.internal", "10.0.0.1", 22));
        assert!(!covers("git.internal:22", "git.internal", "10.0.0.1", 443));
        assert!(covers("127.0.0.1:*", "127.0.0.1", "127.0.0.1", 40000));
    }

    #[test]
    fn everything_is_not_a_destination() {
        for text in ["*", "*:443", "10.0.0.0/33", "10.0.0/8", "a/8", ""] {
            assert!(text.parse::<AllowRule>().is_err(), "{text}");
        }
    }
}
