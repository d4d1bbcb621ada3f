//! Addresses of crypto currencies: base58 and bech32 with their checksums, hexadecimal ones by their form.

use sha2::{Digest, Sha256};

pub(crate) const SHORTEST: usize = 26;
const LONGEST: usize = 110;
const BASE58: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const RIPPLE: &[u8] = b"rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz";
const BECH32: &[u8] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const PREFIXES: &[(&str, &str)] =
    &[("bc1", "bitcoin"), ("tb1", "bitcoin"), ("ltc1", "litecoin"), ("addr1", "cardano"), ("cosmos1", "cosmos")];

/// Which currency a token is an address of. `asked`: the text speaks of wallets.
pub(crate) fn wallet(token: &str, asked: bool) -> Option<&'static str> {
    if token.len() > LONGEST {
        return None;
    }
    if let Some(digits) = token.strip_prefix("0x") {
        return (digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some("ethereum");
    }
    let lower = token.to_ascii_lowercase();
    if let Some((prefix, name)) = PREFIXES.iter().find(|(prefix, _)| lower.starts_with(prefix)) {
        return bech32(&lower, prefix.len() - 1).then_some(*name);
    }
    match token.as_bytes().first()? {
        b'1' | b'3' | b'm' | b'n' | b'2' if token.len() <= 35 => checked(token, BASE58).then_some("bitcoin"),
        b'L' | b'M' if token.len() <= 35 => checked(token, BASE58).then_some("litecoin"),
        b'D' | b'A' if token.len() <= 35 => checked(token, BASE58).then_some("dogecoin"),
        b'T' if token.len() == 34 => checked(token, BASE58).then_some("tron"),
        b'r' if token.len() <= 35 => checked(token, RIPPLE).then_some("ripple"),
        b'4' | b'8' if token.len() == 95 => token.bytes().all(|byte| BASE58.contains(&byte)).then_some("monero"),
        _ if asked && (32..=44).contains(&token.len()) => (decode(token, BASE58)?.len() == 32).then_some("solana"),
        _ => None,
    }
}

/// Base58Check: the last four bytes are the beginning of a double hash.
fn checked(token: &str, alphabet: &[u8]) -> bool {
    let Some(bytes) = decode(token, alphabet) else { return false };
    let Some((body, sum)) = bytes.len().checked_sub(4).and_then(|at| bytes.split_at_checked(at)) else { return false };
    body.len() == 21 && Sha256::digest(Sha256::digest(body)).starts_with(sum)
}

fn decode(token: &str, alphabet: &[u8]) -> Option<Vec<u8>> {
    let mut number: Vec<u8> = Vec::with_capacity(token.len());
    for byte in token.bytes() {
        let mut carry = u32::try_from(alphabet.iter().position(|known| *known == byte)?).ok()?;
        for place in &mut number {
            carry += u32::from(*place) * 58;
            *place = (carry & 0xff) as u8;
            carry >>= 8;
        }
        while carry > 0 {
            number.push((carry & 0xff) as u8);
            carry >>= 8;
        }
    }
    let zero = alphabet.first()?;
    number.extend(token.bytes().take_while(|byte| byte == zero).map(|_| 0));
    number.reverse();
    Some(number)
}

fn bech32(token: &str, separator: usize) -> bool {
    let Some((prefix, data)) = token.split_at_checked(separator) else { return false };
    let mut check = 1_u32;
    let mut step = |value: u32| {
        let top = check >> 25;
        check = ((check & 0x01ff_ffff) << 5) ^ value;
        for (bit, generator) in
            [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3_u32].into_iter().enumerate()
        {
            if top >> bit & 1 == 1 {
                check ^= generator;
            }
        }
    };
    prefix.bytes().for_each(|byte| step(u32::from(byte) >> 5));
    step(0);
    prefix.bytes().for_each(|byte| step(u32::from(byte) & 31));
    for byte in data.bytes().skip(1) {
        match BECH32.iter().position(|known| *known == byte) {
            Some(value) => step(u32::try_from(value).unwrap_or_default()),
            None => return false,
        }
    }
    matches!(check, 1 | 0x2bc8_30a3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_prove_themselves() {
        for (address, name) in [
            ("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "bitcoin"),
            ("3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", "bitcoin"),
            ("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "bitcoin"),
            ("bc1p5d7rjq7g6rdk2yhzks9smlaqtedr4dekq08ge8ztwac72sfr9rusxg3297", "bitcoin"),
            ("0x52908400098527886E0F7030069857D2E4169EE7", "ethereum"),
            ("rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", "ripple"),
            ("TJRabPrwbZy45sbavfcjinPJC18kjpRTv8", "tron"),
            ("tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", "bitcoin"),
            ("LKKHMBjCU89fyFNgSRprDoD8Jb25N8uWvd", "litecoin"),
            ("ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9", "litecoin"),
            ("D5ERdEN1gsouFSs7zsq7VYJxyWP6dP28H1", "dogecoin"),
            ("cosmos1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5lzv7xu", "cosmos"),
            (
                "addr1qqqsyqcyq5rqwzqfpg9scrgwpugpzysnzs23v9ccrydpk8qarc0jqgfzyvjz2f389q5j52ev95hz7vp3xgengdfkxuuq8ccw2u",
                "cardano",
            ),
            (
                "44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A",
                "monero",
            ),
        ] {
            assert_eq!(wallet(address, false), Some(name), "{address}");
        }
        let solana = "So11111111111111111111111111111111111111112";
        assert_eq!((wallet(solana, true), wallet(solana, false)), (Some("solana"), None));
        for other in [
            "LKKHMBjCU89fyFNgSRprDoD8Jb25N8uWve",
            "D5ERdEN1gsouFSs7zsq7VYJxyWP6dP28H2",
            "cosmos1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5lzv7xv",
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb",
            "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdz",
            "0x5290840009852788",
        ] {
            assert_eq!(wallet(other, false), None, "{other}");
        }
    }
}
