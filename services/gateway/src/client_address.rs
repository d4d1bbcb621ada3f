//! The address of the client that sent a request, for limits per address and for the audit log.

use std::net::{IpAddr, Ipv6Addr};

use http::HeaderMap;
use ipnet::IpNet;

/// More entries of `X-Forwarded-For` are not looked at.
const MAX_FORWARDERS: usize = 32;

/// Set once per request by the server, as a request extension. Handlers read it and never look at forwarding headers
/// themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClientAddress(pub(crate) IpAddr);

/// The unit of limits per address: an IPv4 address, or the /64 of an IPv6 address, which one client owns whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct AddressBlock(IpAddr);

impl ClientAddress {
    pub(crate) fn block(self) -> AddressBlock {
        AddressBlock(match self.0 {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        })
    }
}

/// The addresses of load balancers and reverse proxies whose word about their clients is taken.
#[derive(Debug, Clone, Default)]
pub(crate) struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    pub(crate) fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The client of a request that came over a connection from `peer`. The rightmost address of `X-Forwarded-For` that
    /// is not a proxy of ours was written by one that is; everything to its left is hearsay.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> ClientAddress {
        let mut client = peer;
        if !self.contains(peer) {
            return ClientAddress(client);
        }
        let values = headers.get_all("x-forwarded-for").iter().rev();
        let entries = values.flat_map(|value| value.to_str().unwrap_or_default().rsplit(','));
        for entry in entries.take(MAX_FORWARDERS) {
            let Some(address) = parse(entry.trim()) else { break };
            client = address;
            if !self.contains(address) {
                break;
            }
        }
        ClientAddress(client)
    }
}

/// An address as proxies write it: plain, in brackets, with or without a port.
fn parse(text: &str) -> Option<IpAddr> {
    let plain = |text: &str| text.parse::<IpAddr>().ok();
    let with_port = || text.parse::<std::net::SocketAddr>().ok().map(|address| address.ip());
    let bracketed = || plain(text.strip_prefix('[')?.strip_suffix(']')?);
    plain(text).or_else(with_port).or_else(bracketed).map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, forwarded: &[&str]) -> String {
        let networks = ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().unwrap());
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        TrustedProxies::new(networks.to_vec()).client(peer.parse().unwrap(), &headers).0.to_string()
    }

    #[test]
    fn forwarded_address_from_a_stranger_is_ignored() {
        assert_eq!(client("192.0.2.1", &["198.51.100.7"]), "192.0.2.1");
    }

    #[test]
    fn forwarded_address_is_the_rightmost_that_is_no_trusted_proxy() {
        for (forwarded, expected) in [
            (&["198.51.100.7"][..], "198.51.100.7"),
            (&["1.1.1.1, 198.51.100.7"], "198.51.100.7"),
            (&["1.1.1.1, 198.51.100.7, 10.0.0.9"], "198.51.100.7"),
            (&["1.1.1.1", "198.51.100.7", "10.0.0.9,10.1.1.1"], "198.51.100.7"),
            (&["198.51.100.7:4711"], "198.51.100.7"),
            (&["[2001:db8::7]:4711"], "2001:db8::7"),
            (&["[2001:db8::7]"], "2001:db8::7"),
            (&["::ffff:198.51.100.7"], "198.51.100.7"),
            (&["10.0.0.5, 10.0.0.9"], "10.0.0.5"),
            (&[], "10.0.0.1"),
            (&["1.1.1.1, unknown"], "10.0.0.1"),
            (&["1.1.1.1, unknown, 10.0.0.9"], "10.0.0.9"),
            (&[""], "10.0.0.1"),
        ] {
            assert_eq!(client("10.0.0.1", forwarded), expected, "{forwarded:?}");
        }
    }

    #[test]
    fn ipv6_addresses_of_one_64_are_one_block() {
        let block = |text: &str| ClientAddress(text.parse().unwrap()).block();
        assert_eq!(block("2001:db8::1"), block("2001:db8::ffff:1"));
        assert_ne!(block("2001:db8::1"), block("2001:db8:0:1::1"));
        assert_ne!(block("192.0.2.1"), block("192.0.2.2"));
    }
}
