//! Tells the program what it was built from, for `pleat version`.

use std::process::Command;

fn main() {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success());
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).filter(|text| !text.is_empty())
    };
    // A source tree without its history (an archive, an image's build) knows it from outside, or not at all.
    let commit = std::env::var("PLEAT_COMMIT").ok().or_else(|| said("git", &["rev-parse", "--short=12", "HEAD"]));
    let rustc = std::env::var("RUSTC").ok().and_then(|rustc| said(&rustc, &["--version"]));
    let unknown = || "unknown".to_owned();
    println!("cargo:rustc-env=PLEAT_BUILD_COMMIT={}", commit.unwrap_or_else(unknown));
    println!("cargo:rustc-env=PLEAT_BUILD_RUSTC={}", rustc.unwrap_or_else(unknown));
    for name in ["PROFILE", "TARGET"] {
        println!("cargo:rustc-env=PLEAT_BUILD_{name}={}", std::env::var(name).unwrap_or_else(|_| unknown()));
    }
    println!("cargo:rerun-if-env-changed=PLEAT_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");
}
