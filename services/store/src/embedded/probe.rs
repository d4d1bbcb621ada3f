//! Asking whether the database answers, by a real connection: the one test that cannot lie.
//!
//! Must not decide what to do about the answer.

use std::path::Path;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{ConnectOptions, Connection, PgConnection};
use tokio::time::timeout;

use super::cluster::USER;

pub(super) const DATABASE: &str = "pleat";
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) enum Answer {
    Ready(PgConnection),
    /// Alive but not yet (or no longer) serving: starting, recovering, stopping, or too busy to answer in time.
    Starting,
    NoDatabase,
    /// Nobody listens.
    Silent,
    Refused(sqlx::Error),
}

pub(super) async fn ask(options: &PgConnectOptions) -> Answer {
    let error = match timeout(PATIENCE, PgConnection::connect_with(options)).await {
        Ok(Ok(connection)) => return Answer::Ready(connection),
        Err(_) => return Answer::Starting,
        Ok(Err(error)) => error,
    };
    match &error {
        sqlx::Error::Io(_) => Answer::Silent,
        sqlx::Error::Database(reply) => match reply.code().as_deref() {
            Some("57P01" | "57P02" | "57P03") => Answer::Starting,
            Some("3D000") => Answer::NoDatabase,
            _ => Answer::Refused(error),
        },
        _ => Answer::Refused(error),
    }
}

/// How to reach `database` over the socket in `directory`, whatever `PG*` variables say.
pub(super) fn over_socket(directory: &Path, database: &str) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .socket(directory)
        .port(5432)
        .username(USER)
        .database(database)
        .ssl_mode(PgSslMode::Disable)
        .application_name("pleat")
        .disable_statement_logging()
}

/// The same as an address that sqlx (and libpq) parse.
pub(super) fn url(directory: &Path) -> String {
    let mut host = String::new();
    for byte in directory.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => host.push(char::from(*byte)),
            other => host.push_str(&format!("%{other:02X}")),
        }
    }
    format!("postgres:///{DATABASE}?host={host}&port=5432&user={USER}&sslmode=disable")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_survives_odd_directories() {
        let directory = Path::new("/tmp/a b+c&d=é/run");
        let options: PgConnectOptions = url(directory).parse().unwrap();
        assert_eq!(options.get_socket().unwrap(), directory);
        assert_eq!(options.get_database(), Some("pleat"));
        assert_eq!(options.get_username(), "pleat");
    }
}
