//! Bytes by what they are to the scanner.

/// Reading beyond the end gives zero, which is nothing's part.
pub(crate) trait Peek {
    fn at(&self, place: usize) -> u8;

    /// The byte before.
    fn before(&self, place: usize) -> u8 {
        self.at(place.wrapping_sub(1))
    }
}

impl Peek for [u8] {
    #[inline]
    fn at(&self, place: usize) -> u8 {
        self.get(place).copied().unwrap_or_default()
    }
}

pub(crate) const LETTER: u16 = 1;
pub(crate) const UPPER: u16 = 1 << 1;
pub(crate) const DIGIT: u16 = 1 << 2;
pub(crate) const AT: u16 = 1 << 3;
pub(crate) const COLON: u16 = 1 << 4;
pub(crate) const DELIMITER: u16 = 1 << 5;
pub(crate) const HIGH: u16 = 1 << 6;
pub(crate) const CJK: u16 = 1 << 7;
pub(crate) const PERCENT: u16 = 1 << 8;
pub(crate) const EQUALS: u16 = 1 << 9;
/// Stands in for a letter in disguised words.
pub(crate) const DISGUISE: u16 = 1 << 10;
pub(crate) const DASH: u16 = 1 << 11;
pub(crate) const SLASH: u16 = 1 << 12;
pub(crate) const DOT: u16 = 1 << 13;
pub(crate) const HOOK: u16 = 1 << 14;

pub(crate) static CLASS: [u16; 256] = table();

const fn table() -> [u16; 256] {
    let mut table = [0_u16; 256];
    let mut byte = 0_usize;
    while byte < 256 {
        let class = class_of(byte as u8);
        #[expect(clippy::indexing_slicing, reason = "the table has a place for each byte")]
        {
            table[byte] = class;
        }
        byte += 1;
    }
    table
}

const fn class_of(byte: u8) -> u16 {
    match byte {
        b'a'..=b'z' => LETTER,
        b'A'..=b'Z' => LETTER | UPPER,
        b'0'..=b'9' => DIGIT,
        b'@' => AT | DISGUISE,
        b':' => COLON,
        b'%' => PERCENT,
        b'=' => EQUALS,
        b'$' | b'!' | b'*' | b'+' => DISGUISE,
        b'-' => DASH,
        b'/' => SLASH,
        b'.' => DOT,
        b'[' | b'(' => HOOK,
        0..=b' ' | 0x7f | b'"' | b'<' | b'>' | b'{' | b'}' | b'|' | b',' | b';' | b'`' => DELIMITER,
        0xe3..=0xff => HIGH | CJK,
        0x80.. => HIGH,
        _ => 0,
    }
}

#[inline]
pub(crate) fn class(byte: u8) -> u16 {
    CLASS.get(byte as usize).copied().unwrap_or_default()
}

pub(crate) fn is_delimiter(byte: u8) -> bool {
    class(byte) & DELIMITER != 0
}

/// The first byte of a character of a script without spaces, or of a symbol.
pub(crate) fn is_cjk(byte: u8) -> bool {
    class(byte) & CJK != 0
}
