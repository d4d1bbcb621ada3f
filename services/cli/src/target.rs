//! Which server, with which key, for which tenant: from flags, from the environment, or from the running
//! `pleat dev` of this directory or of a parent.
//!
//! A key of `pleat dev` is never sent to another server, nor used for another tenant than its own.

use std::path::{Path, PathBuf};

use pleat_domain::TenantSlug;
use pleat_domain::key::ApiKey;
use reqwest::Url;

use crate::arguments::Globals;
use crate::dev_file::{DevFile, DevFileFound};
use crate::problem::Problem;

/// What a command is about to do, and so which of `pleat dev`'s keys it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Operator,
    Admin,
    Deployer,
    /// May also go without a key: public skills and the card are open.
    Caller,
}

/// No `Debug`: it holds a key.
pub struct Target {
    /// The control URL.
    pub url: Url,
    pub key: Option<String>,
    /// Unknown until the server is asked whose key it is.
    pub tenant: Option<String>,
    /// Where the key was found, when it was not given.
    pub key_file: Option<PathBuf>,
}

pub fn find(globals: &Globals, role: Role) -> Result<Target, Problem> {
    let given_url = given(globals.url.as_deref()).map(control_url).transpose()?;
    let given_key = given(globals.key.as_deref()).map(checked_key).transpose()?;
    let given_tenant = given(globals.tenant.as_deref()).map(tenant_name).transpose()?;
    // A server that was named needs no file, so one that cannot be read is no obstacle then.
    let nearby = if given_url.is_some() { dev_file(globals).unwrap_or_default() } else { dev_file(globals)? };
    let found = match nearby {
        Some((path, file)) if given_url.is_none() && !file.is_alive() => return Err(not_running(&path, &file)),
        Some((path, file)) => Some((control_url(&file.url)?, path, file)),
        None => None,
    };
    let Some((dev_url, path, file)) =
        found.filter(|(dev_url, ..)| given_url.as_ref().is_none_or(|given| given == dev_url))
    else {
        let url = given_url.ok_or_else(|| no_server(globals))?;
        return Ok(Target { url, key: given_key, tenant: given_tenant, key_file: None });
    };
    if given_key.is_some() {
        return Ok(Target { url: dev_url, key: given_key, tenant: given_tenant, key_file: None });
    }
    let own_tenant = given_tenant.as_ref().is_none_or(|tenant| *tenant == file.tenant);
    let key = match role {
        Role::Operator => Some(file.operator_key),
        Role::Admin if own_tenant => Some(file.admin_key),
        Role::Deployer | Role::Caller if own_tenant => Some(file.deploy_key),
        Role::Caller => None,
        Role::Admin | Role::Deployer => return Err(other_tenant(&file.tenant, given_tenant.as_deref())),
    };
    Ok(Target { url: dev_url, key, tenant: given_tenant.or(Some(file.tenant)), key_file: Some(path) })
}

/// An empty variable is as good as none.
fn given(value: Option<&str>) -> Option<&str> {
    value.map(str::trim).filter(|text| !text.is_empty())
}

fn control_url(text: &str) -> Result<Url, Problem> {
    let bad = |why: &str| {
        let hint = "give the control URL, for example --url http://127.0.0.1:8787 (also PLEAT_URL)";
        Problem::usage(format!("`{text}` is no server URL: {why}"), hint)
    };
    let mut url = Url::parse(text).map_err(|error| bad(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(bad("it must begin with http:// or https://"));
    }
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

/// Other kinds of bearer token are the server's to judge; one of our own that was cut in copying is told here.
fn checked_key(text: &str) -> Result<String, Problem> {
    if text.starts_with("plt_") {
        ApiKey::parse(text).map_err(|error| Problem::usage(error.to_string(), "copy it again, whole"))?;
    }
    Ok(text.to_owned())
}

fn tenant_name(text: &str) -> Result<String, Problem> {
    match TenantSlug::parse(text) {
        Ok(slug) => Ok(slug.into()),
        Err(error) => Err(Problem::usage(format!("`{text}` names no tenant"), error.to_string())),
    }
}

/// The named data directory's, or the nearest on the way up.
fn dev_file(globals: &Globals) -> Result<Option<(PathBuf, DevFile)>, Problem> {
    if globals.data_dir.is_some() {
        return read(&DevFile::path(&globals.data_dir()));
    }
    let here = std::env::current_dir().unwrap_or_default();
    for directory in here.ancestors() {
        if let Some(found) = read(&DevFile::path(&directory.join(globals.data_dir())))? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn read(path: &Path) -> Result<Option<(PathBuf, DevFile)>, Problem> {
    let unreadable = |source| Problem::Unreadable { path: path.to_owned(), source };
    let shown = path.display();
    let message = match DevFile::read(path).map_err(unreadable)? {
        None => return Ok(None),
        Some(DevFileFound::Trusted(file)) => return Ok(Some((path.to_owned(), file))),
        Some(DevFileFound::Foreign) => format!("`{shown}` belongs to another user, so it is not trusted"),
        Some(DevFileFound::Open) => format!("`{shown}` is open to other users, so it is not trusted"),
    };
    Err(Problem::failed(message, "if it is yours: chown and chmod 600, or name the server with --url"))
}

fn not_running(path: &Path, file: &DevFile) -> Problem {
    let message = format!("`pleat dev` is not running: process {} of `{}` is gone", file.pid, path.display());
    Problem::failed(message, "start it again with `pleat dev`, or name another server with --url")
}

fn no_server(globals: &Globals) -> Problem {
    let place = match &globals.data_dir {
        Some(directory) => format!("on the data directory `{}`", directory.display()),
        None => "in this directory or a parent".to_owned(),
    };
    let message = format!("no server is known: no `pleat dev` runs {place}");
    Problem::failed(message, "start one with `pleat dev`, or set PLEAT_URL and PLEAT_KEY (--url, --key)")
}

fn other_tenant(own: &str, asked: Option<&str>) -> Problem {
    let asked = asked.unwrap_or_default();
    let message = format!("the running `pleat dev` holds keys of the tenant `{own}` only, not of `{asked}`");
    Problem::usage(message, format!("pass a key of `{asked}` with --key or PLEAT_KEY"))
}
