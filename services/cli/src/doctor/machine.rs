//! The machine: what the process may use, and where it may write.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use pleat_engine::MasterKey;
use rustix::process::{Resource, getrlimit};

use super::Finding;
use crate::config::Settings;
use crate::ownership::check_data_dir;

const GIB: u64 = 1 << 30;
/// Below these, trouble is near.
const DISK_FAIL: u64 = GIB / 2;
const DISK_WARN: u64 = 2 * GIB;
const FILES: u64 = 4_096;
/// Address space that one slot of the pool reserves.
const SLOT: u64 = 4 * GIB;

pub fn look(settings: &Settings, data_dir: &Path) -> Vec<Finding> {
    let mut findings = vec![writable(data_dir), disk(data_dir), swap(), files(), address_space(settings)];
    let default = SocketAddr::from(([0, 0, 0, 0], 8787));
    findings.push(port("port", settings.listen(default)));
    if let Some(address) = settings.metrics_listen().transpose() {
        findings.push(port("metrics port", address));
    }
    findings
}

/// The one of the environment, else that of `pleat dev` in the data directory.
pub fn master_key(data_dir: &Path) -> Finding {
    const CHECK: &str = "master key";
    const FIX: &str = "set PLEAT_MASTER_KEY to the installation's key; a first one: `openssl rand -hex 32`";
    match std::env::var("PLEAT_MASTER_KEY") {
        Ok(text) if !text.is_empty() => match MasterKey::parse(&text) {
            Ok(_) => Finding::ok(CHECK, "64 hex digits in PLEAT_MASTER_KEY"),
            Err(_) => Finding::fail(CHECK, "PLEAT_MASTER_KEY is not 64 hex digits", FIX),
        },
        _ if data_dir.join("master.key").exists() => {
            Finding::warn(CHECK, "of `pleat dev`, in the data directory; PLEAT_MASTER_KEY is not set", FIX)
        }
        _ => Finding::warn(CHECK, "PLEAT_MASTER_KEY is not set; `pleat serve` needs it", FIX),
    }
}

/// Whether the key of the environment, else that of `pleat dev`, if there is one, is the database's.
pub fn master_key_of(sealed: &[u8], data_dir: &Path) -> Option<Finding> {
    const CHECK: &str = "master key of the database";
    let (place, text) = match std::env::var("PLEAT_MASTER_KEY") {
        Ok(text) if !text.is_empty() => ("PLEAT_MASTER_KEY", text),
        _ => ("master.key", std::fs::read_to_string(data_dir.join("master.key")).ok()?),
    };
    if MasterKey::parse(&text).ok()?.opens_check(sealed) {
        return Some(Finding::ok(CHECK, format!("the one in {place}")));
    }
    let fix = "set PLEAT_MASTER_KEY to the key that this database was set up with; nothing can be read without it";
    Some(Finding::fail(CHECK, format!("another than the one in {place}"), fix))
}

fn writable(data_dir: &Path) -> Finding {
    const CHECK: &str = "data directory";
    let place = data_dir.display();
    if let Err(problem) = check_data_dir(data_dir) {
        return Finding::fail(CHECK, problem.to_string(), problem.hint().unwrap_or_default());
    }
    let probe = data_dir.join(format!(".doctor-{}", std::process::id()));
    let tried = std::fs::create_dir_all(data_dir).and_then(|()| std::fs::write(&probe, b"ok"));
    let _ = std::fs::remove_file(&probe);
    match tried {
        Ok(()) => Finding::ok(CHECK, format!("{place} can be written")),
        Err(error) => Finding::fail(CHECK, format!("{place}: {error}"), "make it, and let the account of Pleat own it"),
    }
}

fn disk(data_dir: &Path) -> Finding {
    const CHECK: &str = "disk";
    let Ok(volume) = rustix::fs::statvfs(data_dir) else {
        return Finding::warn(CHECK, "the free space is not known", "see that the data directory exists");
    };
    let free = volume.f_bavail.saturating_mul(volume.f_frsize);
    let found = format!("{:.1} GiB free for {}", free as f64 / GIB as f64, data_dir.display());
    let fix = "free some: tasks of a database on a full disk are refused until there is room";
    match free {
        free if free < DISK_FAIL => Finding::fail(CHECK, found, fix),
        free if free < DISK_WARN => Finding::warn(CHECK, found, fix),
        _ => Finding::ok(CHECK, found),
    }
}

fn swap() -> Finding {
    if pleat_runtime::swap_is_possible() {
        let fix = "turn swap off, or run Pleat in a cgroup with memory.swap.max = 0 (systemd: MemorySwapMax=0)";
        return Finding::warn("swap", "possible: instances are reset the slow way, which costs throughput", fix);
    }
    Finding::ok("swap", "impossible: instances are reset the fast way")
}

fn files() -> Finding {
    const CHECK: &str = "open files";
    match getrlimit(Resource::Nofile).current {
        Some(most) if most < FILES => {
            let fix = format!("ulimit -n {FILES} or more (systemd: LimitNOFILE=65536): each connection takes one");
            Finding::warn(CHECK, format!("at most {most}"), fix)
        }
        Some(most) => Finding::ok(CHECK, format!("at most {most}")),
        None => Finding::ok(CHECK, "no limit"),
    }
}

fn address_space(settings: &Settings) -> Finding {
    const CHECK: &str = "address space";
    let wanted = u64::from(settings.runtime.instances).saturating_mul(SLOT);
    match getrlimit(Resource::As).current {
        Some(most) if most < wanted => {
            let fix =
                "ulimit -v unlimited, or fewer `runtime.instances`: each reserves 4 GiB of addresses, not of memory";
            Finding::fail(CHECK, format!("at most {} GiB of the {} GiB wanted", most / GIB, wanted / GIB), fix)
        }
        _ => Finding::ok(CHECK, "no limit that matters"),
    }
}

fn port(check: &'static str, address: Result<SocketAddr, crate::problem::Problem>) -> Finding {
    let address = match address {
        Ok(address) => address,
        Err(problem) => return Finding::fail(check, problem.to_string(), "mend the address"),
    };
    match TcpListener::bind(address) {
        Ok(_) => Finding::ok(check, format!("{address} is free")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let fix =
                "fine if that is the running Pleat; else stop what listens there, or choose another with --listen";
            Finding::warn(check, format!("{address} is in use"), fix)
        }
        Err(error) => Finding::fail(check, format!("{address}: {error}"), "choose another address with --listen"),
    }
}
