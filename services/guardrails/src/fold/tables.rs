//! Which characters are invisible, which are digits, and which look like which.

/// Drawn as nothing, or only changing its neighbours: zero-width characters, bidirectional controls, tags, variation
/// selectors, combining accents.
pub(crate) const fn is_ignorable(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        | '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}')
}

/// Turns the direction of what follows.
pub(crate) const fn is_bidi(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A tag: ASCII that nobody sees.
pub(crate) const fn is_tag(character: char) -> bool {
    matches!(character, '\u{e0000}'..='\u{e007f}')
}

/// Of a script that writes no spaces, or a symbol: words do not go on over it.
pub(crate) const fn is_spaceless(character: char) -> bool {
    character >= '\u{2e80}'
}

/// Letters that no rule changes: the scripts that most texts outside Latin are written in.
pub(super) const fn stays(character: char) -> bool {
    match character {
        // Cyrillic, Hebrew, Arabic, and so on up to Thai, without their digits and what is invisible.
        '\u{370}'..='\u{37e}' | '\u{380}'..='\u{5ff}' | '\u{620}'..='\u{65f}' | '\u{66e}'..='\u{6ef}' => true,
        '\u{900}'..='\u{965}' | '\u{e01}'..='\u{e4f}' | '\u{1100}'..='\u{115e}' | '\u{3001}'..='\u{3163}' => true,
        '\u{3165}'..='\u{31ff}' | '\u{3400}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' => true,
        '\u{1f300}'..='\u{1faff}' | '\u{20000}'..='\u{2fa1f}' => true,
        _ => false,
    }
}

/// Whether words go on over a character: asked of the letters that are common before the slow table is.
pub(super) fn is_letter(character: char) -> bool {
    matches!(character, '\u{391}'..='\u{3ce}' | '\u{400}'..='\u{481}' | '\u{5d0}'..='\u{5ea}' | '\u{620}'..='\u{64a}')
        || character.is_alphabetic()
}

/// What stands for a character that has no decomposition of its own.
pub(super) fn plain(character: char) -> Option<&'static str> {
    if character.is_whitespace() {
        return Some(if matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}') { "\n" } else { " " });
    }
    if let Some(digit) = digit(character) {
        return Some(digit);
    }
    Some(match character {
        '\u{2010}'..='\u{2015}' | '\u{2043}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => "-",
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2032}' => "'",
        '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' => "\"",
        '\u{2024}' | '\u{ff61}' => ".",
        '\u{2044}' | '\u{2215}' => "/",
        '\u{b7}' | '\u{2022}' | '\u{2027}' => ".",
        'ø' => "o",
        'Ø' => "O",
        'đ' | 'ð' => "d",
        'Đ' | 'Ð' => "D",
        'ł' => "l",
        'Ł' => "L",
        'ı' => "i",
        'ß' => "ss",
        'æ' => "ae",
        'Æ' => "AE",
        'œ' => "oe",
        'Œ' => "OE",
        'þ' => "th",
        'ħ' => "h",
        'ɡ' => "g",
        'ɑ' => "a",
        'ɪ' => "i",
        'ɴ' => "n",
        'ʀ' => "r",
        'ᴀ' => "a",
        'ᴄ' => "c",
        'ᴅ' => "d",
        'ᴇ' => "e",
        'ᴏ' => "o",
        'ᴘ' => "p",
        'ᴛ' => "t",
        'ᴜ' => "u",
        'ᴠ' => "v",
        'ꜱ' => "s",
        '\u{1f130}'..='\u{1f149}' => boxed(character, 0x1f130),
        '\u{1f150}'..='\u{1f169}' => boxed(character, 0x1f150),
        '\u{1f170}'..='\u{1f189}' => boxed(character, 0x1f170),
        _ => return None,
    })
}

fn boxed(character: char, first: u32) -> &'static str {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
    let at = (character as u32).saturating_sub(first) as usize;
    LETTERS.get(at..=at).unwrap_or("?")
}

/// The zeros of the scripts that have digits of their own, nine others behind each.
const ZEROS: &[u32] = &[
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20,
    0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0,
    0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450,
    0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16b50, 0x1d7ce, 0x1d7d8,
    0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

fn digit(character: char) -> Option<&'static str> {
    const DIGITS: &str = "0123456789";
    let code = character as u32;
    let zero = ZEROS.get(ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?)?;
    let at = (code - zero) as usize;
    DIGITS.get(at..at + 1)
}

/// The Latin letter that a letter of another script looks like.
pub(crate) const fn lookalike(character: char) -> Option<char> {
    if !matches!(character, '\u{370}'..='\u{58f}') {
        return None;
    }
    Some(match character {
        'а' | 'α' | 'ա' => 'a',
        'А' | 'Α' => 'A',
        'в' | 'В' | 'Β' | 'β' => 'B',
        'с' | 'ϲ' => 'c',
        'С' | 'Ϲ' => 'C',
        'ԁ' => 'd',
        'е' | 'ҽ' | 'ε' => 'e',
        'Е' | 'Ε' => 'E',
        'ց' => 'g',
        'һ' | 'հ' => 'h',
        'Н' | 'Η' | 'н' => 'H',
        'і' | 'ι' | 'ӏ' => 'i',
        'І' | 'Ι' | 'Ӏ' => 'I',
        'ј' | 'ϳ' => 'j',
        'Ј' => 'J',
        'к' | 'κ' => 'k',
        'К' | 'Κ' => 'K',
        'М' | 'Μ' | 'м' => 'M',
        'Ν' => 'N',
        'ո' | 'η' => 'n',
        'о' | 'ο' | 'օ' | 'σ' => 'o',
        'О' | 'Ο' | 'Օ' => 'O',
        'р' | 'ρ' => 'p',
        'Р' | 'Ρ' => 'P',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'Ѕ' => 'S',
        'Т' | 'Τ' | 'т' | 'τ' => 'T',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'Х' | 'Χ' => 'X',
        'у' | 'γ' => 'y',
        'У' | 'Υ' => 'Y',
        'Ζ' => 'Z',
        _ => return None,
    })
}
