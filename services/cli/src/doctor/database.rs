//! The database, as the node's login sees it.

use std::path::Path;
use std::time::Duration;

use pleat_store::embedded::{PrivateCluster, private_cluster};
use pleat_store::{Inspection, inspect};

use super::{Finding, machine};
use crate::config::Settings;
use crate::config::show::without_password;

const OLDEST: i32 = 140_000;
/// Tasks are dated by the node and leased by the database's clock.
const SKEW: Duration = Duration::from_secs(2);

pub async fn look(settings: &Settings, data_dir: &Path) -> Vec<Finding> {
    if let Some(url) = &settings.database.url {
        let fix = "see that the server runs, and that DATABASE_URL (database.url) names it and a login of its own";
        return at(url, data_dir, fix).await;
    }
    match private_cluster(data_dir) {
        PrivateCluster::Missing => {
            vec![Finding::ok("database", "none named; a private one will be kept in the data directory")]
        }
        PrivateCluster::Stopped => {
            let found =
                "a private one in the data directory, which does not run; what is in it is checked at the start";
            vec![Finding::ok("database", found)]
        }
        PrivateCluster::Running { url } => {
            at(&url, data_dir, "it may be about to start or to end: look again, or see `postgres/log`").await
        }
    }
}

async fn at(url: &str, data_dir: &Path, fix: &str) -> Vec<Finding> {
    match inspect(url).await {
        Ok(found) => {
            let mut findings = vec![version(&found, url), rights(&found), schema(&found), clock(&found)];
            let sealed = found.master_key_check.as_deref();
            findings.extend(sealed.and_then(|sealed| machine::master_key_of(sealed, data_dir)));
            findings
        }
        Err(error) => {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            vec![Finding::fail("database", format!("{}: {error}{cause}", without_password(url)), fix)]
        }
    }
}

fn version(found: &Inspection, url: &str) -> Finding {
    let place = format!("PostgreSQL {} at {}", found.version, without_password(url));
    if found.version_number < OLDEST {
        return Finding::fail("database", place, "use PostgreSQL 14 or newer");
    }
    Finding::ok("database", place)
}

fn rights(found: &Inspection) -> Finding {
    if !found.makes_tables {
        let fix = "GRANT CREATE ON SCHEMA public TO the login, or make it the owner of its database";
        return Finding::fail("database rights", "the login may not make tables", fix);
    }
    if !found.has_roles {
        let fix = "ALTER ROLE the login CREATEROLE, or make pleat_app and pleat_writer and grant both to it";
        return Finding::fail("database rights", "the login can neither make nor use the two roles of Pleat", fix);
    }
    Finding::ok("database rights", "the login may make tables and use its roles")
}

fn schema(found: &Inspection) -> Finding {
    let newest = found.newest;
    match found.schema {
        None => Finding::ok("schema", format!("not set up yet; the first start brings it to {newest}")),
        Some(schema) if schema > newest => {
            let fix = "run the Pleat that set it up, or a later one; there is no way back";
            Finding::fail("schema", format!("at {schema}, newer than this program knows ({newest})"), fix)
        }
        Some(schema) if schema < newest => {
            let fix =
                "back up the database; the next start of `pleat serve` migrates it, and older nodes cannot start again";
            Finding::warn("schema", format!("at {schema}; this program brings it to {newest}"), fix)
        }
        Some(schema) => Finding::ok("schema", format!("at {schema}, up to date")),
    }
}

fn clock(found: &Inspection) -> Finding {
    let apart = format!("{} ms apart from the database's", found.clock_skew.as_millis());
    if found.clock_skew > SKEW {
        return Finding::warn("clock", apart, "let both machines keep their clocks by NTP");
    }
    Finding::ok("clock", apart)
}
