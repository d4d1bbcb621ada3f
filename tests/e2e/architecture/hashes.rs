//! Committed binaries are what the sums beside them say.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::{files, text};
use crate::harness::root;

const PLACES: &[&str] = &["services", "tests", "benches", "functions-sdk"];

#[test]
fn every_binary_has_its_hash_beside_it() {
    let binaries = files(PLACES, ".wasm");
    assert!(binaries.len() >= 3, "{binaries:?}");
    for binary in binaries {
        let sums = binary.with_file_name("SHA256SUMS");
        assert!(root().join(&sums).is_file(), "{}: there is no {}", binary.display(), sums.display());
        let sums = text(&sums);
        let lines: BTreeMap<&str, &str> =
            sums.lines().filter_map(|line| line.split_once("  ")).map(|(a, b)| (b, a)).collect();
        let name = binary.file_name().unwrap().to_string_lossy();
        let hash = hex::encode(Sha256::digest(std::fs::read(root().join(&binary)).unwrap()));
        assert_eq!(lines.get(&*name), Some(&hash.as_str()), "{}", binary.display());
    }
}

#[test]
fn every_sum_has_its_binary() {
    for sums in files(PLACES, "SHA256SUMS") {
        for line in text(&sums).lines() {
            let (_, name) = line.split_once("  ").unwrap_or_else(|| panic!("{}: {line}", sums.display()));
            assert!(root().join(sums.with_file_name(name)).is_file(), "{}: {name} is gone", sums.display());
        }
    }
}
