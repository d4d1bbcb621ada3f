//! Tokens: taken apart without a fault, and nothing in them is a claim before the signature was checked.
#![no_main]

#[path = "../../services/engine/src/tokens/claims.rs"]
mod claims;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use claims::{Refused, Token, is_key_id};
use libfuzzer_sys::fuzz_target;
use pleat_domain::{PlanName, Scope, Tenant, TenantId, TenantSlug};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    take_apart(text);
    // The same as header and claims, so that the encoding is not in the way.
    if let Some((header, claims)) = text.split_once('\n') {
        take_apart(&format!("{}.{}.AAAA", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims)));
    }
});

fn take_apart(text: &str) {
    let Ok(token) = Token::parse(text) else { return };
    assert!(text.len() <= 8 << 10 && text.matches('.').count() >= 2);
    assert!(is_key_id(token.key_id()));
    let _ = token.issuer();
    let refused = Token::parse(text).map(|token| token.verified(|_| Err(Refused::Signature)));
    assert!(matches!(refused, Ok(Err(Refused::Signature))), "without a good signature there are no claims");
    let claims = token.verified(|checked| {
        assert_eq!(checked, text, "what is checked is the whole token");
        Ok(())
    });
    let Ok(claims) = claims else { panic!("nothing else refuses") };
    assert!(!claims.subject().contains(['\n', ' ', '\u{0}']), "a subject is part of a name");
    let _ = claims.scopes().has(Scope::Invoke);
    let tenant = Tenant {
        id: TenantId::from_row(Default::default()),
        slug: TenantSlug::parse("acme").expect("a name"),
        plan: PlanName::standard(),
        card: Default::default(),
        created_at: time::OffsetDateTime::UNIX_EPOCH,
    };
    let _ = claims.check(&tenant);
}
