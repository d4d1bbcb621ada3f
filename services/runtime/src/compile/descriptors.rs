//! Descriptors that a compile child was given beside its three pipes: closed before anything else happens.
//!
//! The platform opens everything so that children do not inherit it. What its own parent left open, such as a shell's
//! descriptor of a log, would still go through.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Says that this was done once already.
pub(crate) const CLOSED_VARIABLE: &str = "PLEAT_DESCRIPTORS_CLOSED";
const LIST: &str = "/proc/self/fd";
const FIRST: u32 = 3;

/// Begins this program anew without inherited descriptors, if there are any; answers with those that are left.
pub(super) fn close_inherited() -> io::Result<Vec<u32>> {
    let inherited = open_descriptors();
    if inherited.is_empty() || std::env::var_os(CLOSED_VARIABLE).is_some() {
        return Ok(inherited);
    }
    close_fds::set_fds_cloexec(FIRST.cast_signed(), &[]);
    let mut again = Command::new(std::env::current_exe()?);
    Err(again.args(std::env::args_os().skip(1)).env(CLOSED_VARIABLE, "1").exec())
}

/// Those above the three standard ones; none where the system does not list them.
fn open_descriptors() -> Vec<u32> {
    let entries = std::fs::read_dir(LIST).into_iter().flatten().flatten();
    let numbers: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // The one by which the list was read is closed by now.
    let is_open = |number: &u32| Path::new(LIST).join(number.to_string()).symlink_metadata().is_ok();
    numbers.into_iter().filter(|number| *number >= FIRST && is_open(number)).collect()
}
