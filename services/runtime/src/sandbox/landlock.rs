//! First layer: Landlock, by which a process gives up rights to files, TCP ports, abstract sockets and signals.

use std::io;
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

/// The newest version of the interface whose rights are handled here; an older kernel handles those that it knows.
const NEWEST: ABI = ABI::V6;

/// Allows reading below `read`, and everything but executing below `write`; nothing else. Answers with the version that
/// the kernel offers; 0: none, and then nothing is restricted.
pub(super) fn restrict(read: &[PathBuf], write: &[PathBuf]) -> io::Result<i32> {
    let status = ruleset(read, write).and_then(|rules| rules.restrict_self().map_err(io::Error::other))?;
    Ok(version(&status))
}

fn ruleset(read: &[PathBuf], write: &[PathBuf]) -> io::Result<RulesetCreated> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(NEWEST)))
        .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
        .and_then(Ruleset::create)
        .map_err(io::Error::other)?;
    let reading = AccessFs::ReadFile | AccessFs::ReadDir;
    let writing = AccessFs::from_all(NEWEST) & !BitFlags::from_flag(AccessFs::Execute);
    for (paths, access) in [(read, reading), (write, writing)] {
        for path in paths {
            let opened = PathFd::new(path).map_err(io::Error::other)?;
            rules = rules.add_rule(PathBeneath::new(opened, access)).map_err(io::Error::other)?;
        }
    }
    Ok(rules)
}

fn version(status: &RestrictionStatus) -> i32 {
    match (&status.ruleset, &status.landlock) {
        (RulesetStatus::NotEnforced, _) => 0,
        (_, LandlockStatus::Available { effective_abi, kernel_abi }) => kernel_abi.unwrap_or(*effective_abi as i32),
        _ => 0,
    }
}
