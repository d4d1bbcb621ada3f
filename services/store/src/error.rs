//! Everything that can go wrong in the store. Constraint names and SQL states are read here and nowhere else.

use std::sync::Arc;

use pleat_domain::{Limit, TenantSlug};

/// A failure of the store. The database's own words stay in the source, away from callers.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    #[error("the database address is not valid; it looks like `postgres://user@host/name`")]
    BadUrl(#[source] Arc<sqlx::Error>),
    #[error("the database cannot be reached; see that it runs and that its address is right")]
    Unreachable(#[source] Arc<sqlx::Error>),
    #[error("the database refused the login; see the user, the password and the database's name in its address")]
    Refused(#[source] Arc<sqlx::Error>),
    #[error("the database was set up by a newer pleat (migration {version}); run that version or a later one")]
    SchemaTooNew { version: i64 },
    #[error("the database's schema could not be brought up to date; see the cause, nothing was changed by this step")]
    Migration(#[source] Arc<sqlx::migrate::MigrateError>),
    #[error("the tenant name `{0}` is taken; choose another")]
    SlugTaken(TenantSlug),
    /// Revoking it would lock everybody out.
    #[error("this is the last working {what}; create another one first, or force it")]
    LastKey { what: &'static str },
    #[error("a key with this id exists already; make a new one")]
    KeyTaken,
    #[error("the issuer `{0}` is registered already; remove it first")]
    IssuerTaken(String),
    #[error("the task id `{0}` is in use; send with another id")]
    AliasTaken(String),
    #[error("{}; delete a function", .limit.sentence(*.most))]
    NoRoom { limit: Limit, most: u64 },
    /// The caller has sent under this idempotency key before.
    #[error("this idempotency key was used before; its task is the answer")]
    Repeated,
    #[error("the database has no room; free some on its disk, or raise its limits")]
    Full(#[source] Arc<sqlx::Error>),
    #[error("the write queue is full; try again in a second")]
    Busy,
    #[error("the store is shutting down; try again in a second")]
    Closed,
    #[error("a text holds a character that cannot be stored (U+0000); remove it")]
    Unstorable(#[source] Arc<sqlx::Error>),
    #[error("the task's id lies outside the time for which tasks are kept; use a fresh id")]
    OutsideRetention(#[source] Arc<sqlx::Error>),
    #[error("a tenant has at most {most} of these; remove one first")]
    TooMany { most: usize },
    #[error("a task has at most {most} push configurations; delete one first")]
    TooManyPushes { most: usize },
    #[error("the tenant's share of the key-value store is used up; delete keys or let them expire")]
    ShareUsedUp,
    #[error("the value is not a whole number of 64 bits")]
    NotANumber,
    #[error("a stored {what} cannot be read; was it written by another version of pleat?")]
    Corrupt { what: &'static str },
    #[error("the database refused a statement")]
    Database(#[source] Arc<sqlx::Error>),
}

impl StoreError {
    /// Worth trying again soon: nothing is wrong with the request itself.
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Full(_) | Self::Busy | Self::Closed)
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let kind = Kind::of(&error);
        let error = Arc::new(error);
        match kind {
            Kind::ConnectionLost => Self::Unreachable(error),
            Kind::LoginRefused => Self::Refused(error),
            Kind::Full => Self::Full(error),
            Kind::NoPartition => Self::OutsideRetention(error),
            Kind::BadCharacter => Self::Unstorable(error),
            Kind::Duplicate | Kind::BadRow | Kind::Other => Self::Database(error),
        }
    }
}

/// What the writers and the mapping above need to know of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The connection is gone, or the server is going; whether the statement took effect is unknown.
    ConnectionLost,
    LoginRefused,
    /// Its disk, its memory or its connections are used up: nothing was written.
    Full,
    NoPartition,
    BadCharacter,
    Duplicate,
    /// The fault of some row, or of two batches meeting: a smaller batch may pass.
    BadRow,
    Other,
}

impl Kind {
    pub(crate) fn of(error: &sqlx::Error) -> Self {
        let sqlx::Error::Database(database) = error else {
            let lost = matches!(
                error,
                sqlx::Error::Io(_)
                    | sqlx::Error::Tls(_)
                    | sqlx::Error::Protocol(_)
                    | sqlx::Error::PoolTimedOut
                    | sqlx::Error::PoolClosed
                    | sqlx::Error::WorkerCrashed
            );
            return if lost { Self::ConnectionLost } else { Self::Other };
        };
        let code = database.code().unwrap_or_default();
        match code.as_ref() {
            "57P01" | "57P02" | "57P03" => Self::ConnectionLost,
            "23514" if database.constraint().is_none() => Self::NoPartition,
            "22021" | "22P05" => Self::BadCharacter,
            "23505" => Self::Duplicate,
            code => match code.get(..2) {
                Some("08") => Self::ConnectionLost,
                Some("28" | "3D") => Self::LoginRefused,
                Some("53") => Self::Full,
                Some("21" | "22" | "23" | "40" | "54") => Self::BadRow,
                _ => Self::Other,
            },
        }
    }
}

/// The name of the constraint that a statement ran into.
pub(crate) fn constraint(error: &sqlx::Error) -> Option<&str> {
    error.as_database_error().and_then(sqlx::error::DatabaseError::constraint)
}

/// The SQL state that a statement ended in.
pub(crate) fn state(error: &sqlx::Error) -> Option<String> {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).map(std::borrow::Cow::into_owned)
}
