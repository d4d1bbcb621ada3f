//! Where memory can be swapped out, the fast reset of a guest's memory is not used: a page that is away when it is
//! looked for would keep what is in it.
//!
//! The decision is tried on described machines, and then on a real start of the server that is shown swap.

use std::path::Path;

use crate::harness::database;
use crate::options::Scale;
use crate::row::Row;

#[path = "../../services/runtime/src/swap.rs"]
#[allow(dead_code, reason = "the server asks about its own machine")]
mod decision;

const NONE: &str = "Filename\tType\tSize\tUsed\tPriority\n";
const SWAP: &str = "Filename\tType\tSize\tUsed\tPriority\n/swapfile file 2097148 0 -2\n";

/// What a machine says of its swap, its membership and the limit on its group; and whether it can be swapped out.
struct Machine {
    swaps: Option<&'static str>,
    cgroup: &'static str,
    /// `memory.swap.max` and `memory.swap.current` of `/a/b`, and of `/a`.
    inner: (&'static str, &'static str),
    outer: (&'static str, &'static str),
    possible: bool,
}

const fn machine(swaps: Option<&'static str>, cgroup: &'static str, possible: bool) -> Machine {
    Machine { swaps, cgroup, inner: ("max", "0"), outer: ("max", "0"), possible }
}

const MACHINES: &[Machine] = &[
    machine(Some(NONE), "0::/a/b\n", false),
    machine(Some(SWAP), "0::/a/b\n", true),
    machine(Some(SWAP), "4:memory:/a/b\n", true),
    machine(Some(SWAP), "", true),
    machine(None, "0::/a/b\n", true),
    Machine { inner: ("0", "0"), ..machine(Some(SWAP), "0::/a/b\n", false) },
    Machine { outer: ("0", "0"), ..machine(Some(SWAP), "0::/a/b\n", false) },
    Machine { inner: ("0", "4096"), ..machine(Some(SWAP), "0::/a/b\n", true) },
    Machine { outer: ("0", "4096"), ..machine(Some(SWAP), "0::/a/b\n", true) },
    Machine { inner: ("1048576", "0"), ..machine(Some(SWAP), "0::/a/b\n", true) },
];

pub async fn prove(_: Scale) -> Vec<Row> {
    let wrong: Vec<String> = MACHINES
        .iter()
        .enumerate()
        .filter_map(|(index, machine)| {
            let root = machine.build();
            let said = decision::is_possible_on(root.path());
            (said != machine.possible).then(|| format!("machine {index}: swap is said to be possible: {said}"))
        })
        .collect();
    let tried = format!("{} described machines, with and without swap: wrong decisions", MACHINES.len());
    let mut rows = vec![Row::none("swap.decision", tried, &wrong)];
    rows.push(match start_with_swap().await {
        Some(faults) => Row::none("swap.start", "one start of the server on a machine with swap: fast resets", &faults),
        None => Row::shown("swap.start", "one start on a machine with swap", "not tried: needs the right to mount"),
    });
    rows
}

impl Machine {
    fn build(&self) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a directory");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        };
        if let Some(swaps) = self.swaps {
            write("proc/swaps", swaps);
        }
        write("proc/self/cgroup", self.cgroup);
        for (group, (most, current)) in [("a/b", self.inner), ("a", self.outer)] {
            write(&format!("sys/fs/cgroup/{group}/memory.swap.max"), most);
            write(&format!("sys/fs/cgroup/{group}/memory.swap.current"), current);
        }
        root
    }
}

/// In a mount namespace of its own, where `/proc/swaps` says that there is swap and no group forbids it.
async fn start_with_swap() -> Option<Vec<String>> {
    let directory = tempfile::tempdir().expect("a directory");
    let (swaps, cgroup) = (directory.path().join("swaps"), directory.path().join("cgroup"));
    std::fs::write(&swaps, SWAP).expect("a file");
    std::fs::write(&cgroup, "").expect("a file");
    if !mounted(&swaps, &cgroup, &["true"]).status().is_ok_and(|status| status.success()) {
        return None;
    }
    let mut serve = mounted(&swaps, &cgroup, &[crate::harness::pleat(), "serve", "--listen", "127.0.0.1:0"]);
    let log = std::fs::File::create(directory.path().join("log")).expect("a file");
    serve.current_dir(directory.path()).env("PLEAT_MASTER_KEY", "11".repeat(32)).env("DATABASE_URL", database().await);
    let mut child = serve.stdout(std::process::Stdio::null()).stderr(log).spawn().expect("the binary runs");
    let text = || std::fs::read_to_string(directory.path().join("log")).unwrap_or_default();
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !text().contains("reset") && std::time::Instant::now() < patience {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    // `unshare` without `--fork` becomes the server, so that this is the server's own number.
    child.kill().expect("it runs");
    child.wait().expect("it can be waited for");
    let log = text();
    Some(if log.contains("slow reset") && !log.contains("fast reset") { vec![] } else { vec![log] })
}

fn mounted(swaps: &Path, cgroup: &Path, command: &[&str]) -> std::process::Command {
    let script = "mount --bind \"$1\" /proc/swaps && mount --bind \"$2\" /proc/self/cgroup && shift 2 && exec \"$@\"";
    let mut unshare = std::process::Command::new("unshare");
    unshare.args(["--mount", "sh", "-c", script, "sh"]).arg(swaps).arg(cgroup).args(command);
    unshare.stderr(std::process::Stdio::null());
    unshare
}
