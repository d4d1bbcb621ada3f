//! Which addresses are the public internet. What is in no list here that says so is not.
//!
//! Written out rather than taken from a library: common predicates call NAT64, 6to4 and IPv4-compatible forms of
//! private addresses global.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// IANA's special-purpose registry, multicast and the reserved rest.
const NOT_PUBLIC_V4: [Ipv4Net; 15] = [
    v4([0, 0, 0, 0], 8),
    v4([10, 0, 0, 0], 8),
    v4([100, 64, 0, 0], 10),
    v4([127, 0, 0, 0], 8),
    v4([169, 254, 0, 0], 16),
    v4([172, 16, 0, 0], 12),
    v4([192, 0, 0, 0], 24),
    v4([192, 0, 2, 0], 24),
    v4([192, 88, 99, 0], 24),
    v4([192, 168, 0, 0], 16),
    v4([198, 18, 0, 0], 15),
    v4([198, 51, 100, 0], 24),
    v4([203, 0, 113, 0], 24),
    v4([224, 0, 0, 0], 4),
    v4([240, 0, 0, 0], 4),
];

/// Addresses of cloud providers' own services that look public and are answered only from within the cloud, by services
/// that trust whoever asks from a virtual machine. The metadata services themselves are at link-local, shared and
/// unique-local addresses, which are refused above and below.
const CLOUD_INTERNAL_V4: [Ipv4Net; 4] = [
    // Azure: the wire server, DNS, DHCP and health probes of every virtual machine.
    v4([168, 63, 129, 16], 32),
    // IBM Cloud: infrastructure services and service endpoints.
    v4([161, 26, 0, 0], 16),
    v4([166, 8, 0, 0], 14),
    // Equinix Metal: the metadata service.
    v4([192, 80, 8, 124], 32),
];

/// The only part of IPv6 that is given out for use on the internet.
const UNICAST_V6: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// What is special within it. Tunnels (Teredo, 6to4) are refused as a whole: they are out of use, and lead anywhere.
const NOT_PUBLIC_V6: [Ipv6Net; 4] = [
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32),
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16),
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20),
];

/// RFC 6052: an IPv4 address as hosts without IPv4 reach it. Its local-use sibling 64:ff9b:1::/48 is not public.
const NAT64: Ipv6Net = v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);

/// Whether anybody on the internet could reach this address, and it is nobody's inside.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded(address) {
            Some(inner) => is_public_v4(inner),
            None => UNICAST_V6.contains(&address) && !NOT_PUBLIC_V6.iter().any(|net| net.contains(&address)),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !NOT_PUBLIC_V4.iter().chain(&CLOUD_INTERNAL_V4).any(|net| net.contains(&address))
}

/// The IPv4 address that a packet to this one ends at.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    if NAT64.contains(&address) {
        let [.., a, b, c, d] = address.octets();
        return Some(Ipv4Addr::new(a, b, c, d));
    }
    address.to_ipv4_mapped()
}

const fn v4([a, b, c, d]: [u8; 4], prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6([a, b, c, d, e, f, g, h]: [u16; 8], prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(text: &str) -> bool {
        is_public(text.parse().unwrap())
    }

    #[test]
    fn the_internet_is_public() {
        for address in ["1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1"]
        {
            assert!(public(address), "{address}");
        }
        for address in ["2606:4700::1111", "2a00:1450::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8", "2001:200::1"] {
            assert!(public(address), "{address}");
        }
    }

    #[test]
    fn the_first_and_the_last_of_each_special_range_are_not() {
        for net in NOT_PUBLIC_V4.into_iter().chain(CLOUD_INTERNAL_V4) {
            assert!(!is_public(net.network().into()) && !is_public(net.broadcast().into()), "{net}");
        }
        for net in NOT_PUBLIC_V6 {
            assert!(!is_public(net.network().into()) && !is_public(net.broadcast().into()), "{net}");
        }
    }

    #[test]
    fn metadata_services_of_clouds_are_not_public() {
        for address in [
            "169.254.169.254",
            "169.254.170.2",
            "169.254.42.42",
            "100.100.100.200",
            "100.80.80.80",
            "192.0.0.192",
            "168.63.129.16",
            "::ffff:168.63.129.16",
            "64:ff9b::a83f:8110",
            "161.26.0.10",
            "166.9.0.1",
            "192.80.8.124",
            "fd00:ec2::254",
            "fd20:ce::254",
            "fd00:c1::a9fe:a9fe",
            "fd00:42::42",
            "fd00:a9fe:a9fe::1",
            "fe80::a9fe:a9fe",
        ] {
            assert!(!public(address), "{address}");
        }
        for neighbor in ["168.63.129.15", "168.63.129.17", "161.25.255.255", "166.12.0.1", "192.80.8.125"] {
            assert!(public(neighbor), "{neighbor}");
        }
    }

    #[test]
    fn private_addresses_inside_others_are_not() {
        for address in [
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0:127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::8.8.8.8",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:808:808::1",
            "2001:0:1::1",
            "2001:db8::1",
            "3fff::1",
            "100::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
            "5f00::1",
        ] {
            assert!(!public(address), "{address}");
        }
    }
}
