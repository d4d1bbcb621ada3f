//! The machine around a node: planted data directories and keys, and what the processes that it starts inherit.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::harness::binary;
use crate::harness::dev::Server;
use crate::harness::project::Project;
use crate::row::Row;

const MASTER: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
/// The account that owns nothing.
const NOBODY: u32 = 65_534;

pub async fn prove() -> Vec<Row> {
    vec![planted().await, inherited().await]
}

/// What is wrong with a data directory.
struct Plant {
    name: &'static str,
    prepare: fn(&Path),
}

const PLANTS: &[Plant] = &[
    Plant { name: "a directory of somebody else", prepare: |path| own(path, NOBODY) },
    Plant { name: "a directory that everybody may write", prepare: |path| mode(path, 0o777) },
    Plant { name: "a directory that the group may write", prepare: |path| mode(path, 0o770) },
    Plant {
        name: "a key of somebody else",
        prepare: |path| {
            key(path, 0o600);
            own(&path.join("master.key"), NOBODY);
        },
    },
    Plant { name: "a key that everybody may read", prepare: |path| key(path, 0o644) },
    Plant { name: "a key that everybody may write", prepare: |path| key(path, 0o666) },
    Plant {
        name: "compiled code of somebody else",
        prepare: |path| {
            std::fs::create_dir(path.join("cache")).expect("a directory");
            own(&path.join("cache"), NOBODY);
        },
    },
];

async fn planted() -> Row {
    let mut accepted = Vec::new();
    let mut tried = 0;
    for plant in PLANTS {
        let project = Project::new();
        std::fs::create_dir(project.data_dir()).expect("a directory");
        mode(&project.data_dir(), 0o700);
        (plant.prepare)(&project.data_dir());
        let data_dir = project.data_dir().display().to_string();
        let arguments = ["dev", "--listen", "127.0.0.1:0", "--no-watch", "--data-dir", &data_dir];
        let mut command = binary::command(&project.path, &arguments);
        // A directory that is refused is refused at once; one that is accepted starts a server, which is stopped.
        let ended = tokio::time::timeout(std::time::Duration::from_secs(20), command.kill_on_drop(true).output()).await;
        tried += 1;
        match ended {
            Ok(Ok(output)) if !output.status.success() => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                if !said.contains(&data_dir) {
                    accepted.push(format!("{}: refused without a reason: {said}", plant.name));
                }
            }
            _ => accepted.push(format!("{}: accepted", plant.name)),
        }
    }
    Row::none("abuse.planted", format!("starts with {tried} planted data directories and keys: accepted"), &accepted)
}

/// The private Postgres of a node must not see the node's own secrets.
async fn inherited() -> Row {
    let project = Project::new();
    let data_dir = project.data_dir().display().to_string();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--data-dir", &data_dir, "--log-format", "json"];
    let environment = [("PLEAT_MASTER_KEY", MASTER), ("SOME_TOKEN", "proof-of-leak")];
    let mut server = Server::spawn(project, &arguments, &environment);
    server
        .until("line that says where it listens", |project| project.log().contains("\"address\"").then_some(()))
        .await;
    let postgres = server.project.postgres().expect("a Postgres of its own");
    let mut leaks = Vec::new();
    for process in std::iter::once(postgres).chain(children(postgres)) {
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let text = String::from_utf8_lossy(&environment).into_owned();
        for secret in [MASTER, "PLEAT_", "proof-of-leak", "DATABASE_URL"] {
            if text.contains(secret) {
                leaks.push(format!("process {process} has {secret}"));
            }
        }
    }
    server.signal("TERM");
    server.ended().await;
    Row::none("abuse.inherited", "the environment of the embedded Postgres: secrets of the node in it", &leaks)
}

fn children(process: u32) -> Vec<u32> {
    let listed = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

fn own(path: &Path, user: u32) {
    std::os::unix::fs::chown(path, Some(user), Some(user)).expect("root may give files away");
}

fn mode(path: &Path, bits: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(bits)).expect("its owner may");
}

fn key(path: &Path, bits: u32) {
    std::fs::write(path.join("master.key"), MASTER).expect("a file");
    mode(&path.join("master.key"), bits);
}
