//! Step one: somebody else's Postgres, named by `DATABASE_URL`.
//!
//! Must not print the address: it may hold a password. Host and database are enough to recognise it.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, PgConnection};
use tokio::time::{Instant, sleep};

use super::EmbeddedError;
use super::binaries::{OLDEST_MAJOR, leading_number};
use super::probe::{Answer, ask};

/// Containers started together may take a moment to find each other.
const PATIENCE: Duration = Duration::from_secs(15);

/// Proves that the database answers and is new enough; gives the log line.
pub(super) async fn check(url: &str, progress: &(dyn Fn(&str) + Send + Sync)) -> Result<String, EmbeddedError> {
    let options: PgConnectOptions = url.parse().map_err(|source| EmbeddedError::Address { source })?;
    let host = options.get_socket().map_or_else(|| options.get_host().to_owned(), |path| path.display().to_string());
    let place = format!("{host}/{}", options.get_database().unwrap_or(options.get_username()));
    let mut connection = reach(&options, &place, progress).await?;
    let version: String = sqlx::query_scalar("SHOW server_version")
        .fetch_one(&mut connection)
        .await
        .map_err(|source| EmbeddedError::External { place: place.clone(), source })?;
    // The answer is in; a lost goodbye changes nothing.
    let _ = connection.close().await;
    let version = version.split_whitespace().next().unwrap_or_default().to_owned();
    if leading_number(&version).is_some_and(|major| major < OLDEST_MAJOR) {
        return Err(EmbeddedError::TooOld { version, minimum: OLDEST_MAJOR });
    }
    Ok(format!("PostgreSQL {version} named by DATABASE_URL, data in {place}"))
}

async fn reach(
    options: &PgConnectOptions,
    place: &str,
    progress: &(dyn Fn(&str) + Send + Sync),
) -> Result<PgConnection, EmbeddedError> {
    let deadline = Instant::now() + PATIENCE;
    let mut said = false;
    loop {
        let silent = || sqlx::Error::Io(std::io::Error::from(std::io::ErrorKind::ConnectionRefused));
        let source = match ask(options).await {
            Answer::Ready(connection) => return Ok(connection),
            Answer::Refused(source) => return Err(EmbeddedError::External { place: place.to_owned(), source }),
            Answer::NoDatabase => {
                let source = sqlx::Error::Configuration("there is no database of that name on the server".into());
                return Err(EmbeddedError::External { place: place.to_owned(), source });
            }
            Answer::Starting | Answer::Silent => silent(),
        };
        if Instant::now() >= deadline {
            return Err(EmbeddedError::External { place: place.to_owned(), source });
        }
        if !said {
            said = true;
            progress(&format!("waiting for the database at {place}"));
        }
        sleep(Duration::from_millis(200)).await;
    }
}
