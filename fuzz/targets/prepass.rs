//! The look at a component before it is compiled: it ends, soon, for whatever bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../services/runtime/src/compile/prepass.rs"]
mod prepass;

fuzz_target!(|bytes: &[u8]| {
    if let Err(prepass::Unfit::Invalid(message) | prepass::Unfit::TooComplex(message)) = prepass::check(bytes) {
        assert!(!message.is_empty() && message.len() < 2_000, "{message}");
    }
});
