//! How a request is broken: some bytes of it are changed, lost, repeated or put where they do not belong.

use crate::random::Random;

/// What has broken servers before.
const PIECES: &[&[u8]] = &[
    b"\0",
    b"%00",
    b"\r\n",
    b"\n",
    b"\r\n\r\n",
    b"\xff\xfe",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"%",
    b"%zz",
    b"%2e%2e%2f",
    b"//",
    b"\\",
    b"\"",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"1e400",
    b"-",
    b"99999999999999999999999999",
    b"-1",
    b"NaN",
    b"null",
    b"true",
    b"''",
    b"/*",
    b"\r\nTransfer-Encoding: chunked\r\n",
    b"\r\nContent-Length: 0\r\n",
    b"\r\nContent-Length: 18446744073709551616\r\n",
    b"\r\nHost: other\r\n",
    b"\r\nExpect: 100-continue\r\n",
    b"\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
    b"\r\nContent-Encoding: gzip\r\n",
    b"\r\nContent-Type: text/plain; charset=utf-16\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b" HTTP/9.9\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
];

pub fn broken(whole: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        let until = (at + 1 + random.below(40)).min(bytes.len());
        match random.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..until)),
            2 => {
                let again = bytes[at..until].repeat(1 + random.below(200));
                drop(bytes.splice(at..at, again));
            }
            3 | 4 => drop(bytes.splice(at..at, random.one_of(PIECES).iter().copied())),
            5 => drop(bytes.splice(at..until, random.one_of(PIECES).iter().copied())),
            6 => bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 << random.below(8)),
            _ => length(&mut bytes, random),
        }
    }
    bytes
}

/// A lie about the length of the body.
fn length(bytes: &mut Vec<u8>, random: &mut Random) {
    const NAME: &[u8] = b"Content-Length: ";
    let Some(at) = bytes.windows(NAME.len()).position(|window| window == NAME) else { return };
    let lies: [&[u8]; 6] = [b"0", b"1", b"99999", b"-1", b"18446744073709551615", b"0x10"];
    let digits = bytes[at + NAME.len()..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    drop(bytes.splice(at + NAME.len()..at + NAME.len() + digits, random.one_of(&lies).iter().copied()));
}
