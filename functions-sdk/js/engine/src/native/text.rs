//! UTF-8 and its relatives, for TextEncoder, TextDecoder and bodies.

use rquickjs::{Ctx, Function, Object, Result, TypedArray};

pub fn add<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("utf8Encode", Function::new(ctx.clone(), utf8_encode)?)?;
    native.set("decode", Function::new(ctx.clone(), decode)?)
}

/// A copy, because whoever gets a slice must not run JavaScript meanwhile.
pub fn bytes(array: &TypedArray<'_, u8>) -> Vec<u8> {
    // SAFETY: the slice is copied before anything else can run.
    unsafe { array.as_bytes() }.map(<[u8]>::to_vec).unwrap_or_default()
}

fn utf8_encode<'js>(ctx: Ctx<'js>, text: String) -> Result<TypedArray<'js, u8>> {
    TypedArray::new_copy(ctx, text.as_bytes())
}

/// Nothing if `fatal` and not valid.
fn decode(array: TypedArray<'_, u8>, encoding: String, fatal: bool) -> Option<String> {
    let bytes = bytes(&array);
    match encoding.as_str() {
        "utf-16le" => {
            let units: Vec<u16> = bytes
                .chunks_exact(2)
                .map(|pair| pair.iter().rev().fold(0, |sum, byte| (sum << 8) | u16::from(*byte)))
                .collect();
            match String::from_utf16(&units) {
                Ok(text) if bytes.len().is_multiple_of(2) => Some(text),
                _ if fatal => None,
                _ => {
                    let mut text = String::from_utf16_lossy(&units);
                    if !bytes.len().is_multiple_of(2) {
                        text.push(char::REPLACEMENT_CHARACTER);
                    }
                    Some(text)
                }
            }
        }
        "windows-1252" => Some(bytes.iter().map(|byte| windows_1252(*byte)).collect()),
        _ => match String::from_utf8(bytes) {
            Ok(text) => Some(text),
            Err(_) if fatal => None,
            Err(error) => Some(String::from_utf8_lossy(error.as_bytes()).into_owned()),
        },
    }
}

/// As the Encoding Standard has it: Latin-1, but for 0x80 to 0x9f.
fn windows_1252(byte: u8) -> char {
    const HIGH: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
    match byte {
        0x80..=0x9f => HIGH.chars().nth(usize::from(byte) - 0x80).unwrap_or(char::REPLACEMENT_CHARACTER),
        _ => char::from(byte),
    }
}
