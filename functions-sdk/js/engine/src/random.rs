//! `Math.random`, seeded anew in every call.
//!
//! QuickJS seeds its generator when the context is made, so that a snapshot would give every call the same
//! numbers. Here the seed is taken at the first use after the snapshot: a call that needs no number pays nothing.

use std::cell::Cell;

thread_local! {
    static STATE: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

/// A number of [0, 1) with 53 random bits (xoroshiro128+).
pub fn next() -> f64 {
    let (first, second) = STATE.get().unwrap_or_else(seed);
    let sum = first.wrapping_add(second);
    let mixed = first ^ second;
    STATE.set(Some((first.rotate_left(24) ^ mixed ^ (mixed << 16), mixed.rotate_left(37))));
    (sum >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// The next number begins with a new seed.
pub fn forget() {
    STATE.set(None);
}

fn seed() -> (u64, u64) {
    let mut bytes = [0; 16];
    // The host always has random bytes; without them the numbers would only be predictable, not wrong.
    let _ = getrandom::fill(&mut bytes);
    let seed = u128::from_le_bytes(bytes);
    // All zeros is the one state that it never leaves.
    (seed as u64 | 1, (seed >> 64) as u64)
}
