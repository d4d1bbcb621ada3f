//! Guests in component text that do one thing: what is put into the places of tests/fixtures/minimal.wat.

use serde_json::{Value, json};

use crate::harness::guest::crafted;

/// WASI's clock, for guests that wait.
const CLOCK: &str = r#"
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $p (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $p))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (export "pollable" (type $p (eq $pollable)))
    (export "now" (func (result u64)))
    (export "subscribe-duration" (func (param "when" u64) (result (own $p))))))
  (core func $block (canon lower (func $poll "[method]pollable.block")))
  (core func $subscribe (canon lower (func $clock "subscribe-duration")))
  (core func $now (canon lower (func $clock "now")))
  (core func $drop (canon resource.drop $pollable))
"#;
const CLOCK_IMPORTS: &str = r#"
    (import "host" "block" (func $block (param i32)))
    (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
    (import "host" "now" (func $now (result i64)))
    (import "host" "drop" (func $drop (param i32)))"#;
const CLOCK_GIVEN: &str = r#"(with "host" (instance
    (export "block" (func $block)) (export "subscribe" (func $subscribe))
    (export "now" (func $now)) (export "drop" (func $drop))))"#;

/// A resource whose destructor never ends.
const TRAPDOOR: &str = r#"
  (core module $door (func (export "end") (param i32) (loop (br 0))))
  (core instance $opened (instantiate $door))
  (alias core export $opened "end" (core func $end))
  (type $thing (resource (rep i32) (dtor (func $end))))
  (core func $make (canon resource.new $thing))
  (core func $unmake (canon resource.drop $thing))
"#;
const TRAPDOOR_IMPORTS: &str = r#"
    (import "host" "make" (func $make (param i32) (result i32)))
    (import "host" "unmake" (func $unmake (param i32)))"#;
const TRAPDOOR_GIVEN: &str =
    r#"(with "host" (instance (export "make" (func $make)) (export "unmake" (func $unmake))))"#;

pub struct Guest(String);

impl Guest {
    /// Runs `handle`, then answers `null`.
    pub fn new(handle: &str) -> Self {
        Self::limited(handle, json!({ "cpuMs": 200, "wallMs": 2_000 }))
    }

    pub fn limited(handle: &str, limits: Value) -> Self {
        let manifest = json!({ "description": "does one thing", "limits": limits });
        Self(String::from_utf8(crafted(&manifest, "null", handle)).expect("UTF-8"))
    }

    /// Waits for this long, under the longest limit there is.
    pub fn sleeping(nanos: u64) -> Self {
        let handle = format!("(call $block (call $subscribe (i64.const {nanos})))");
        Self::limited(&handle, json!({ "cpuMs": 1_000, "wallMs": 900_000 })).with_clock()
    }

    /// Code for another place: `table`, `realloc`, `after` or `functions`.
    pub fn put(self, place: &str, code: &str) -> Self {
        let mark = format!(";;; {place}");
        assert_eq!(self.0.matches(&mark).count(), 1, "one {mark}");
        Self(self.0.replace(&mark, code))
    }

    /// `$block`, `$subscribe`, `$now` and `$drop`.
    pub fn with_clock(self) -> Self {
        self.import(CLOCK, CLOCK_IMPORTS, CLOCK_GIVEN)
    }

    /// `$make` and `$unmake`.
    pub fn with_trapdoor(self) -> Self {
        self.import(TRAPDOOR, TRAPDOOR_IMPORTS, TRAPDOOR_GIVEN)
    }

    pub fn bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }

    fn import(self, component: &str, module: &str, given: &str) -> Self {
        let text = self.0.replacen("(core module $guest", &format!("{component}  (core module $guest{module}"), 1);
        Self(text.replacen("(instantiate $guest)", &format!("(instantiate $guest {given})"), 1))
    }
}
