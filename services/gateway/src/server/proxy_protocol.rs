//! The PROXY protocol, versions 1 and 2: a first line or block in which a load balancer names its client.
//!
//! Pure: bytes in, decision out, so that a fuzz target can include this file.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest line of version 1, with its end.
const MAX_LINE: usize = 107;
/// A block of version 2 carries addresses and extensions; those that load balancers send are far smaller.
const MAX_BLOCK: usize = 4_096;
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// A valid beginning: more bytes decide.
    Incomplete,
    /// `client` is `None` where the proxy speaks for itself (a health check) or does not know.
    Header { length: usize, client: Option<IpAddr> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the connection does not begin with a valid PROXY header")]
pub(crate) struct BadHeader;

pub(crate) fn parse(bytes: &[u8]) -> Result<Parsed, BadHeader> {
    if begins(bytes, b"PROXY ") {
        return line(bytes);
    }
    if begins(bytes, SIGNATURE) {
        return block(bytes);
    }
    Err(BadHeader)
}

/// Whether one is a beginning of the other.
fn begins(bytes: &[u8], with: &[u8]) -> bool {
    bytes.iter().zip(with).all(|(byte, expected)| byte == expected)
}

fn line(bytes: &[u8]) -> Result<Parsed, BadHeader> {
    let within = bytes.get(..MAX_LINE).unwrap_or(bytes);
    let Some(end) = within.windows(2).position(|pair| pair == b"\r\n") else {
        return if bytes.len() < MAX_LINE { Ok(Parsed::Incomplete) } else { Err(BadHeader) };
    };
    let text = within.get(..end).and_then(|line| std::str::from_utf8(line).ok()).ok_or(BadHeader)?;
    let fields: Vec<&str> = text.split(' ').collect();
    let client = match fields.as_slice() {
        ["PROXY", "UNKNOWN", ..] => None,
        ["PROXY", "TCP4", source, destination, ports @ ..] => {
            let source: Ipv4Addr = source.parse().map_err(|_| BadHeader)?;
            let _: Ipv4Addr = destination.parse().map_err(|_| BadHeader)?;
            check_ports(ports)?;
            Some(IpAddr::V4(source))
        }
        ["PROXY", "TCP6", source, destination, ports @ ..] => {
            let source: Ipv6Addr = source.parse().map_err(|_| BadHeader)?;
            let _: Ipv6Addr = destination.parse().map_err(|_| BadHeader)?;
            check_ports(ports)?;
            Some(IpAddr::V6(source).to_canonical())
        }
        _ => return Err(BadHeader),
    };
    Ok(Parsed::Header { length: end + 2, client })
}

fn check_ports(ports: &[&str]) -> Result<(), BadHeader> {
    match ports {
        [source, destination] if source.parse::<u16>().is_ok() && destination.parse::<u16>().is_ok() => Ok(()),
        _ => Err(BadHeader),
    }
}

fn block(bytes: &[u8]) -> Result<Parsed, BadHeader> {
    let (Some(command), Some(family)) = (bytes.get(12), bytes.get(13)) else { return Ok(Parsed::Incomplete) };
    let (Some(high), Some(low)) = (bytes.get(14), bytes.get(15)) else { return Ok(Parsed::Incomplete) };
    let length = 16 + usize::from(u16::from_be_bytes([*high, *low]));
    if length > MAX_BLOCK {
        return Err(BadHeader);
    }
    let Some(addresses) = bytes.get(16..length) else { return Ok(Parsed::Incomplete) };
    let client = match (command, family >> 4) {
        // LOCAL: the proxy's own.
        (0x20, _) => None,
        (0x21, 1) => Some(IpAddr::from(source::<4>(addresses, 12)?)),
        (0x21, 2) => Some(IpAddr::from(source::<16>(addresses, 36)?).to_canonical()),
        (0x21, 0 | 3) => None,
        _ => return Err(BadHeader),
    };
    Ok(Parsed::Header { length, client })
}

/// The source address is first, and both addresses with their ports must be there.
fn source<const N: usize>(addresses: &[u8], least: usize) -> Result<[u8; N], BadHeader> {
    if addresses.len() < least {
        return Err(BadHeader);
    }
    addresses.first_chunk().copied().ok_or(BadHeader)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(length: usize, client: &str) -> Result<Parsed, BadHeader> {
        Ok(Parsed::Header { length, client: (!client.is_empty()).then(|| client.parse().unwrap()) })
    }

    fn version_2(command: u8, family: u8, addresses: &[u8]) -> Vec<u8> {
        let length = u16::try_from(addresses.len()).unwrap().to_be_bytes();
        [SIGNATURE.as_slice(), &[command, family], &length, addresses].concat()
    }

    #[test]
    fn version_1_names_the_client() {
        let four = "PROXY TCP4 198.51.100.7 10.0.0.1 4711 80\r\n";
        assert_eq!(parse(format!("{four}GET / HTTP/1.1\r\n").as_bytes()), header(four.len(), "198.51.100.7"));
        let six = "PROXY TCP6 2001:db8::7 ::1 4711 80\r\n";
        assert_eq!(parse(six.as_bytes()), header(six.len(), "2001:db8::7"));
        assert_eq!(parse(b"PROXY UNKNOWN\r\n"), header(15, ""));
        assert_eq!(parse(b"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"), header(35, ""));
    }

    #[test]
    fn version_2_names_the_client() {
        let four = [198, 51, 100, 7, 10, 0, 0, 1, 18, 103, 0, 80];
        assert_eq!(parse(&version_2(0x21, 0x11, &four)), header(28, "198.51.100.7"));
        let with_extension = [&four[..], &[3, 0, 4, 1, 2, 3, 4]].concat();
        assert_eq!(parse(&version_2(0x21, 0x11, &with_extension)), header(35, "198.51.100.7"));
        let mut six = [0; 36];
        six[..16].copy_from_slice(&"2001:db8::7".parse::<Ipv6Addr>().unwrap().octets());
        assert_eq!(parse(&version_2(0x21, 0x21, &six)), header(52, "2001:db8::7"));
        assert_eq!(parse(&version_2(0x20, 0x00, &[])), header(16, ""));
    }

    #[test]
    fn every_beginning_of_a_header_is_incomplete() {
        let four = version_2(0x21, 0x11, &[0; 12]);
        for whole in [b"PROXY TCP4 198.51.100.7 10.0.0.1 4711 80\r\n".as_slice(), &four] {
            for end in 0..whole.len() {
                assert_eq!(parse(&whole[..end]), Ok(Parsed::Incomplete), "{end}");
            }
        }
    }

    #[test]
    fn other_bytes_are_refused() {
        let long = format!("PROXY TCP4 {}", "1".repeat(200));
        let short = version_2(0x21, 0x11, &[0; 11]);
        for bad in [
            b"GET / HTTP/1.1\r\n".as_slice(),
            b"PROXY TCP4 198.51.100.7 10.0.0.1 4711\r\n",
            b"PROXY TCP4 198.51.100.7 10.0.0.1 4711 80 1\r\n",
            b"PROXY TCP4 2001:db8::7 10.0.0.1 4711 80\r\n",
            b"PROXY TCP4 198.51.100.7 10.0.0.1 4711 65536\r\n",
            b"PROXY TCP9 198.51.100.7 10.0.0.1 4711 80\r\n",
            b"PROXY  TCP4\r\n",
            long.as_bytes(),
            &short,
            &version_2(0x31, 0x11, &[0; 12]),
            &version_2(0x22, 0x11, &[0; 12]),
            &version_2(0x21, 0x11, &[0; 5_000]),
        ] {
            assert_eq!(parse(bad), Err(BadHeader), "{}", String::from_utf8_lossy(bad));
        }
    }
}
