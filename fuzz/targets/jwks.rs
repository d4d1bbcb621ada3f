//! Sets of public keys, as issuers give them or serve them: read or refused with a reason, and a key that was taken answers
//! for itself alone, to whatever it is shown.
#![no_main]
#![allow(dead_code, reason = "of what the engine has, only reading is tried here")]

#[path = "../../services/engine/src/tokens/claims.rs"]
mod claims;
#[path = "../../services/engine/src/tokens/key_set.rs"]
mod key_set;

use claims::is_key_id;
use key_set::KeySet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let keys = match KeySet::parse(bytes) {
        Ok(keys) => keys,
        Err(reason) => return assert!(!reason.to_string().is_empty()),
    };
    assert!(keys.get("").is_none(), "a key without a name is not taken");
    let Ok(text) = std::str::from_utf8(bytes) else { unreachable!("JSON is text") };
    for name in text.split('"').filter(|name| is_key_id(name)) {
        let Some(key) = keys.get(name) else { continue };
        assert!(!key.signed("none", b"message", ""), "no key is for no algorithm");
        for algorithm in ["EdDSA", "ES256", "RS256", "HS256"] {
            assert!(!key.signed(algorithm, b"message", "AAAA"), "three bytes sign nothing");
        }
        assert!(key.check(text, "issuer", &["audience".to_owned()]).is_err(), "a set of keys is no token");
    }
});
