//! Keys, names and ids: each has one spelling, which is the one it prints.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pleat_domain::key::ApiKey;
use pleat_domain::{ContextId, SkillName, TaskId, TenantSlug};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(key) = ApiKey::parse(text) {
        assert_eq!(key.reveal(), text);
        assert!(!format!("{key:?}").contains(key.secret()), "a secret is not shown");
    }
    // A key made of the same bytes is found again, and every change of one letter is noticed.
    let mut entropy = [0; 64];
    entropy.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    let key = ApiKey::from_entropy(&entropy);
    let revealed = key.reveal();
    assert_eq!(ApiKey::parse(&revealed), Ok(key));
    let at = bytes.len() % revealed.len();
    let mut changed = revealed.clone().into_bytes();
    changed[at] = if changed[at] == b'7' { b'8' } else { b'7' };
    assert!(ApiKey::parse(&String::from_utf8(changed).expect("ASCII")).is_err());

    if let Ok(id) = text.parse::<TaskId>() {
        assert_eq!(id.to_string(), text);
    }
    if let Ok(name) = SkillName::parse(text) {
        assert_eq!(name.as_str(), text);
        assert!(text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte)));
    }
    if let Ok(slug) = TenantSlug::parse(text) {
        assert_eq!(slug.as_str(), text);
        assert!(text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
    }
    if let Ok(context) = ContextId::try_from(text.to_owned()) {
        assert_eq!(context.as_str(), text);
    }
});
