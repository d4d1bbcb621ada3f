//! What a function says of itself: read or refused; what is read asks for no more than there is, and is kept unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pleat_domain::Manifest;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(manifest) = Manifest::parse(text) else { return };
    assert_eq!(manifest.limits().exceeds_most(), None);
    let requested = manifest.requested();
    assert_eq!(requested.hosts, manifest.capabilities.hosts);
    let kept = serde_json::to_string(&manifest).expect("a manifest can be kept");
    let again = Manifest::parse(&kept).expect("what is kept can be read");
    assert_eq!(serde_json::to_string(&again).expect("a manifest can be kept"), kept);
});
