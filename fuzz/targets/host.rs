//! Hosts as they are granted and addresses as they are dialled: a pattern matches what it says and no more, and a
//! private address is not public in any form that leads to it.
#![no_main]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use libfuzzer_sys::fuzz_target;
use url::{Host, Url};

#[path = "../../services/egress/src/address.rs"]
mod address;
#[path = "../../services/egress/src/host.rs"]
#[allow(dead_code, reason = "used by the guard, which is not here")]
mod host;

use host::HostPattern;

// The first line is a grant, the second a URL.
fuzz_target!(|bytes: &[u8]| {
    let octets = std::array::from_fn(|index| bytes.get(index).copied().unwrap_or(0));
    private_everywhere(Ipv4Addr::from(octets));
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (grant, url) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(pattern) = grant.parse::<HostPattern>() else { return };
    let Ok(url) = Url::parse(url) else { return };
    let Some(named) = url.host().map(|host| host.to_owned()).and_then(host::plain) else { return };
    if let Host::Domain(name) = &named {
        assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)), "{name}");
    }
    if pattern.matches(&named, 443) && !grant.starts_with('*') {
        // A grant of one host is that host, whatever else it is spelled like.
        let again: HostPattern = named.to_string().parse().expect("a host that was found can be granted");
        assert!(again.matches(&named, 443));
    }
    if let Some(parent) = grant.strip_prefix("*.").and_then(|rest| rest.split(':').next())
        && pattern.matches(&named, 443)
    {
        let parent = Host::parse(parent).ok().and_then(host::plain).expect("the pattern was taken").to_string();
        assert!(named.to_string().ends_with(&format!(".{parent}")), "{named} is below {parent}");
    }
});

fn private_everywhere(inner: Ipv4Addr) {
    let private = inner.is_private()
        || inner.is_loopback()
        || inner.is_link_local()
        || inner.is_unspecified()
        || inner.is_broadcast()
        || inner.is_multicast()
        || inner.is_documentation()
        || inner.octets()[0] == 0;
    if !private {
        return;
    }
    let [a, b, c, d] = inner.octets();
    let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    let forms = [
        Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, high, low),
        Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
        Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
        Ipv6Addr::new(0x2001, 0, high, low, 0, 0, !high, !low),
    ];
    assert!(!address::is_public(IpAddr::V4(inner)), "{inner}");
    for form in forms {
        assert!(!address::is_public(IpAddr::V6(form)), "{inner} as {form}");
    }
}
