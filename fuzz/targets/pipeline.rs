//! A definition is read or refused with places inside it; what was read is written, read again the same, drawn and explained.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pleat_pipelines::{explain, graph, parse};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match parse(text) {
        Ok(definition) => {
            let again = parse(&definition.canonical()).expect("the canonical form can be read");
            assert_eq!(again.hash(), definition.hash(), "and says the same");
            let _ = (explain(&definition), graph::text(&definition), graph::mermaid(&definition));
        }
        Err(faults) => {
            // To YAML a return alone ends a line too.
            let lines = u32::try_from(text.matches(['\n', '\r']).count() + 2).expect("few lines");
            for fault in &faults.faults {
                assert!(fault.position.line >= 1 && fault.position.line <= lines, "{fault:?} of {lines} lines");
            }
        }
    }
});
