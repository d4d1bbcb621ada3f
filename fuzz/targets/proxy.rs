//! The PROXY protocol: whatever a connection begins with, more bytes never change a decision, and a header is never longer
//! than what was read.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../services/gateway/src/server/proxy_protocol.rs"]
mod proxy_protocol;

use proxy_protocol::{Parsed, parse};

fuzz_target!(|bytes: &[u8]| {
    let whole = parse(bytes);
    if let Ok(Parsed::Header { length, .. }) = whole {
        assert!(length <= bytes.len());
        assert_eq!(parse(&bytes[..length]), whole, "what follows the header does not matter");
    }
    for end in 0..bytes.len().min(300) {
        match parse(&bytes[..end]) {
            Ok(Parsed::Incomplete) => {}
            decided => assert_eq!(decided, whole, "decided after {end} bytes"),
        }
    }
});
