//! Private addresses in every disguise that somebody might try, as URLs with `PORT` for the port.

use std::collections::HashSet;
use std::net::{Ipv4Addr, Ipv6Addr};

/// At least two of each special range of IPv4, and those that clouds put their secrets at.
const V4: [&str; 34] = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.254",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.254",
    "127.0.0.1",
    "127.0.0.53",
    "127.255.255.254",
    "169.254.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.254",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "192.0.2.254",
    "192.88.99.1",
    "192.88.99.254",
    "192.168.0.1",
    "192.168.255.254",
    "198.18.0.1",
    "198.19.255.254",
    "198.51.100.1",
    "198.51.100.254",
    "203.0.113.1",
    "203.0.113.254",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "254.1.2.3",
    "255.255.255.254",
    "255.255.255.255",
];

const V6: [&str; 22] = [
    "::",
    "::1",
    "::2",
    "::ffff:0:7f00:1",
    "64:ff9b:1::1",
    "64:ff9b:1:ffff::1",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:10::1",
    "2001:db8::1",
    "2002::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fdff:ffff::1",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
];

const NAMES: [&str; 6] =
    ["localhost", "LOCALHOST", "localhost.", "loc%61lhost", "\u{ff4c}ocalhost", "localhost:PORT@localhost"];

pub fn all() -> Vec<String> {
    let v4 = V4.iter().flat_map(|text| v4(text.parse().unwrap()));
    let v6 = V6.iter().flat_map(|text| v6(text.parse().unwrap()));
    let names = NAMES.iter().map(|name| format!("http://{name}:PORT/"));
    let mut seen = HashSet::new();
    v4.chain(v6).chain(names).filter(|url| seen.insert(url.clone())).collect()
}

fn v4(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let whole = u32::from(address);
    let (last, low) = (whole & 0xffff, whole & 0xff_ffff);
    let (high, rest) = (whole >> 16, whole & 0xffff);
    let dotted = address.to_string();
    let hosts = [
        dotted.clone(),
        format!("{dotted}."),
        format!("{whole}"),
        format!("0x{whole:x}"),
        format!("0{whole:o}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("0x{a:x}.0x{b:X}.0X{c:x}.0x{d:02x}"),
        format!("{a}.0x{b:x}.0{c:o}.{d}"),
        format!("000{a:o}.{b}.{c}.{d}"),
        format!("{a}.{b}.{last}"),
        format!("{a}.{low}"),
        digits(&dotted, '\u{ff10}'),
        circled(&dotted),
        dotted.replace('.', "\u{3002}"),
        dotted.replace('.', "%2e"),
        dotted.bytes().map(|byte| format!("%{byte:02x}")).collect(),
        format!("{a}\u{ad}.{b}.{c}.{d}"),
        format!("{a}.{b}\t.{c}.{d}"),
        format!("example.com@{dotted}"),
        format!("example.com:80@{dotted}"),
        format!("[::ffff:{dotted}]"),
        format!("[0:0:0:0:0:FFFF:{high:x}:{rest:x}]"),
        format!("[::{dotted}]"),
        format!("[64:ff9b::{dotted}]"),
        format!("[64:ff9b::{high:x}:{rest:x}]"),
        format!("[2002:{high:x}:{rest:x}::1]"),
    ];
    let whole = hosts.iter().map(|host| format!("http://{host}:PORT/"));
    let around = [
        format!("https://{dotted}:PORT/"),
        format!("HTTP://{dotted}:PORT/"),
        format!("http:{dotted}:PORT/"),
        format!("http:////{dotted}:PORT/"),
        format!("http:\\\\{dotted}:PORT\\"),
        format!("http://{dotted}:PORT#@example.com/"),
        format!("http://{dotted}:PORT?@example.com/"),
    ];
    whole.chain(around).collect()
}

fn v6(address: Ipv6Addr) -> Vec<String> {
    let expanded = address.segments().map(|segment| format!("{segment:04x}")).join(":");
    vec![
        format!("http://[{address}]:PORT/"),
        format!("https://[{address}]:PORT/"),
        format!("http://[{expanded}]:PORT/"),
        format!("http://[{}]:PORT/", expanded.to_uppercase()),
        format!("http://[{address}%25lo]:PORT/"),
        format!("http:[{address}]:PORT/"),
        format!("http://example.com@[{address}]:PORT/"),
    ]
}

/// The digits that begin at this character instead.
fn digits(text: &str, zero: char) -> String {
    let other = |digit: u32| char::from_u32(zero as u32 + digit).unwrap();
    text.chars().map(|character| character.to_digit(10).map_or(character, other)).collect()
}

fn circled(text: &str) -> String {
    let other = |digit| if digit == 0 { '\u{24ea}' } else { char::from_u32(0x245f + digit).unwrap() };
    text.chars().map(|character| character.to_digit(10).map_or(character, other)).collect()
}
