//! Who runs Postgres. It refuses root, so root hands it to an account that exists already.
//!
//! Must not make accounts, and must not hand over more than the directories Postgres writes to: programs and
//! logs stay root's, so that nothing else which runs as `nobody` can swap them.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::time::Duration;

use tokio::process::Command;

use super::child_env;
use super::command::run;
use super::error::EmbeddedError;

const SHORT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RunAs {
    /// Not root: Postgres runs as we do.
    Myself { user: u32 },
    /// Root: Postgres runs as this account.
    Account { name: String, user: u32, group: u32 },
}

impl RunAs {
    pub(super) async fn choose() -> Result<Self, EmbeddedError> {
        let mut id = child_env::command("id");
        id.arg("-u");
        let user = run(id, SHORT).await?.trim().parse().unwrap_or(u32::MAX);
        if user != 0 {
            return Ok(Self::Myself { user });
        }
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        ["postgres", "nobody"].iter().find_map(|name| entry(&passwd, name)).ok_or(EmbeddedError::NoAccount)
    }

    /// The account that made what is in `path`: an old cluster keeps its owner even if a better account came since.
    pub(super) fn owner_of(self, path: &Path) -> Result<Self, EmbeddedError> {
        let metadata = std::fs::metadata(path).map_err(EmbeddedError::file(path))?;
        let (owner, group) = (metadata.uid(), metadata.gid());
        match self {
            Self::Myself { user } if user == owner => Ok(Self::Myself { user }),
            Self::Account { name, user, group } if user == owner => Ok(Self::Account { name, user, group }),
            Self::Account { .. } if owner != 0 => {
                Ok(Self::Account { name: format!("user {owner}"), user: owner, group })
            }
            _ => Err(EmbeddedError::WrongOwner { path: path.to_path_buf(), owner }),
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Myself { .. } => "this user",
            Self::Account { name, .. } => name,
        }
    }

    pub(super) fn user(&self) -> u32 {
        match self {
            Self::Myself { user } | Self::Account { user, .. } => *user,
        }
    }

    /// A command that will run as this account, away from our working directory (which it may not be able to enter).
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = child_env::command(program);
        command.current_dir("/").env("LC_ALL", "C");
        if let Self::Account { user, group, .. } = self {
            // The standard library drops root's supplementary groups along with the user.
            command.uid(*user).gid(*group);
        }
        command
    }

    /// Whether the account can enter `directory`: asked by trying, since modes alone do not tell (ACLs, mounts).
    pub(super) async fn reaches(&self, directory: &Path) -> bool {
        let mut command = self.command(Path::new("/bin/sh"));
        command.args(["-c", "cd \"$1\"", "sh"]).arg(directory);
        run(command, SHORT).await.is_ok()
    }

    /// Makes an empty directory that only the account may enter. One that is there already must be exactly that.
    pub(super) fn private_directory(&self, path: &Path) -> Result<(), EmbeddedError> {
        match std::fs::create_dir(path) {
            Ok(()) => {
                std::fs::set_permissions(path, PermissionsExt::from_mode(0o700)).map_err(EmbeddedError::file(path))?;
                if let Self::Account { user, group, .. } = self {
                    chown(path, Some(*user), Some(*group)).map_err(EmbeddedError::file(path))?;
                }
                Ok(())
            }
            Err(source) if source.kind() == std::io::ErrorKind::AlreadyExists => {
                // Not following links: in a shared temporary directory somebody else may have been first.
                let found = std::fs::symlink_metadata(path).map_err(EmbeddedError::file(path))?;
                if found.is_dir() && found.uid() == self.user() && found.mode() & 0o077 == 0 {
                    return Ok(());
                }
                Err(EmbeddedError::SocketDirectory { path: path.to_path_buf() })
            }
            Err(source) => Err(EmbeddedError::File { path: path.to_path_buf(), source }),
        }
    }
}

/// The account `name` in the text of `/etc/passwd`, unless it is root by another name.
fn entry(passwd: &str, name: &str) -> Option<RunAs> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next() != Some(name) {
            return None;
        }
        let user = number(fields.nth(1)?)?;
        let group = number(fields.next()?)?;
        (user != 0).then(|| RunAs::Account { name: name.to_owned(), user, group })
    })
}

/// macOS writes `nobody` as -2, which the kernel takes as an unsigned number.
fn number(field: &str) -> Option<u32> {
    field.parse::<u32>().ok().or_else(|| field.parse::<i32>().ok().map(i32::cast_unsigned))
}

#[cfg(test)]
mod tests {
    use super::{RunAs, entry};

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\nnobody:*:-2:-2:Nobody:/:/bin/false\n\
                          postgresql:x:5:5::/:/bin/sh\npostgres:x:101:104:PostgreSQL:/var/lib/postgresql:/bin/bash\n";

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        assert_eq!(
            entry(PASSWD, "postgres"),
            Some(RunAs::Account { name: "postgres".to_owned(), user: 101, group: 104 })
        );
        assert_eq!(entry(PASSWD, "post"), None);
    }

    #[test]
    fn negative_numbers_wrap_as_the_kernel_does() {
        let nobody = RunAs::Account { name: "nobody".to_owned(), user: u32::MAX - 1, group: u32::MAX - 1 };
        assert_eq!(entry(PASSWD, "nobody"), Some(nobody));
    }

    #[test]
    fn root_and_broken_lines_are_no_account() {
        assert_eq!(entry(PASSWD, "root"), None);
        assert_eq!(entry("postgres:x:abc:1::/:\n", "postgres"), None);
        assert_eq!(entry("postgres:x\n", "postgres"), None);
    }
}
