//! The functions and pipelines of the working directory, deployed when `pleat dev` starts and again whenever they are saved.
//!
//! Files are looked at twenty times a second rather than by the system's notifications: there are few of them, and looking
//! works the same on every file system, in containers, over the network and with editors that save by renaming.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use pleat_domain::Grants;
use serde::Deserialize;
use tokio_util::task::AbortOnDropHandle;

use crate::client::Client;
use crate::commands::{deploy, parse, pipeline};
use crate::dev_file::DevFile;
use crate::output::Output;
use crate::package::{self, Kind, Package, project};
use crate::report;
use crate::target::Target;

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What tells one state of a function's files from another.
type Stamp = Vec<(PathBuf, Option<SystemTime>, u64)>;

pub struct Watch {
    directory: PathBuf,
    client: Client,
    output: Output,
    seen: BTreeMap<PathBuf, Seen>,
}

#[derive(Default)]
struct Seen {
    /// At the last look.
    stamp: Stamp,
    /// What was last acted upon.
    handled: Option<Stamp>,
    /// It looked like a function once.
    is_function: bool,
    /// What it is deployed as.
    function: Option<String>,
    /// Its last deploy was refused.
    refused: bool,
}

#[derive(Deserialize)]
struct Deployed {
    name: String,
    version: i64,
    #[serde(default)]
    created: bool,
    #[serde(default)]
    requested: Grants,
    #[serde(default)]
    granted: Grants,
    #[serde(default)]
    warnings: Vec<String>,
}

impl Watch {
    /// Goes on until the handle is dropped.
    pub fn start(directory: PathBuf, file: &DevFile, output: Output) -> Result<AbortOnDropHandle<()>> {
        let (key, tenant) = (Some(file.deploy_key.clone()), Some(file.tenant.clone()));
        let client = Client::new(Target { url: file.url.parse()?, key, tenant, key_file: None })?;
        let watch = Self { directory, client, output, seen: BTreeMap::new() };
        Ok(AbortOnDropHandle::new(tokio::spawn(watch.run())))
    }

    async fn run(mut self) {
        let since = self.deployed_at().await.unwrap_or_default();
        loop {
            let directory = self.directory.clone();
            let functions =
                self.seen.iter().filter(|(_, seen)| seen.is_function).map(|(path, _)| path.clone()).collect();
            // A directory that cannot be looked at now may be there again at the next look.
            let found = tokio::task::spawn_blocking(move || look(&directory, &functions)).await.unwrap_or_default();
            self.forget(&found);
            // Functions first: pipelines call them.
            let (pipelines, functions): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|(path, _)| project::is_pipeline(path));
            for (path, stamp) in functions.into_iter().chain(pipelines) {
                if self.is_due(&path, stamp) {
                    self.act(&path, &since).await;
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Changed since it was acted upon, and the same at two looks: nobody is writing it any more.
    fn is_due(&mut self, path: &Path, stamp: Stamp) -> bool {
        let seen = self.seen.entry(path.to_owned()).or_default();
        let settled = seen.stamp == stamp;
        seen.stamp = stamp;
        settled && seen.handled.as_ref() != Some(&seen.stamp)
    }

    async fn act(&mut self, path: &Path, since: &BTreeMap<String, SystemTime>) {
        let seen = self.seen.entry(path.to_owned()).or_default();
        let first = seen.handled.is_none();
        if project::is_pipeline(path) {
            seen.handled = Some(seen.stamp.clone());
            return self.act_on_pipeline(path).await;
        }
        // What was a function and is none any more is deployed too, so that its author reads why it cannot be.
        seen.is_function |= project::is_function(path);
        if !seen.is_function {
            seen.handled = Some(seen.stamp.clone());
            return;
        }
        // Taken before it is read: what changes from here on is deployed again.
        seen.stamp = stamp_of(&package::sources(path));
        seen.handled = Some(seen.stamp.clone());
        let built = built_before(path, &seen.stamp, since);
        let name = self.shown(path);
        if first && let Some(function) = built {
            self.output.note(&format!("{name}: `{function}` is deployed, and the file has not changed since"));
            self.remember(path, function);
            return;
        }
        let started = Instant::now();
        match self.deploy(path).await {
            Ok(Deployed { name: function, version, created, requested, granted, warnings }) => {
                let milliseconds = started.elapsed().as_millis();
                let happened = if created { format!("deployed in {milliseconds} ms") } else { "unchanged".to_owned() };
                self.output.note(&format!("{name}: {function} v{version} {happened}"));
                if let Some(missing) = deploy::missing(&requested, &granted) {
                    let grant = format!("pleat deploy {name} {missing}");
                    self.output.note(&format!("{name}: it asks for more than it was granted; to allow it: {grant}"));
                }
                deploy::warn(&warnings, &self.output);
                self.remember(path, function);
                self.look_again_at_pipelines();
            }
            Err(error) => self.output.complain(&report::text(&error.context(format!("{name} was not deployed")))),
        }
    }

    async fn act_on_pipeline(&mut self, path: &Path) {
        let (started, name) = (Instant::now(), self.shown(path));
        let uploaded = pipeline::deploy::upload(path, &self.client, &[("activate", "true")]).await;
        match uploaded.and_then(parse::<pipeline::deploy::Deployed>) {
            Ok(deployed) => {
                let milliseconds = started.elapsed().as_millis();
                let happened = match deployed.created {
                    true => format!("deployed in {milliseconds} ms"),
                    false => "unchanged".to_owned(),
                };
                let skill = format!("pipeline:{}", deployed.name);
                self.output.note(&format!("{name}: {skill} v{} {happened}", deployed.version));
                deploy::warn(&deployed.strained, &self.output);
                self.remember(path, skill);
                self.look_again_at_pipelines();
            }
            Err(error) => {
                self.output.complain(&report::text(&error.context(format!("{name} was not deployed"))));
                self.seen.entry(path.to_owned()).or_default().refused = true;
            }
        }
    }

    /// Those that could not be deployed yet may have waited for this.
    fn look_again_at_pipelines(&mut self) {
        let waiting = self.seen.iter_mut().filter(|(path, seen)| seen.refused && project::is_pipeline(path));
        waiting.for_each(|(_, seen)| seen.handled = None);
    }

    async fn deploy(&self, path: &Path) -> Result<Deployed> {
        let (owned, output) = (path.to_owned(), self.output);
        let package = tokio::task::spawn_blocking(move || Package::of(&owned, &output)).await??;
        parse(deploy::upload(package, &self.client, |_| {}).await?)
    }

    fn remember(&mut self, path: &Path, function: String) {
        if let Some(seen) = self.seen.get_mut(path) {
            seen.function = Some(function);
            seen.refused = false;
        }
    }

    /// A file that is gone takes nothing with it: a moved file or another branch must not end a function.
    fn forget(&mut self, found: &BTreeMap<PathBuf, Stamp>) {
        let gone: Vec<PathBuf> = self.seen.keys().filter(|path| !found.contains_key(*path)).cloned().collect();
        for path in gone {
            if let Some(function) = self.seen.remove(&path).and_then(|seen| seen.function) {
                let name = self.shown(&path);
                let end = match function.strip_prefix("pipeline:") {
                    Some(pipeline) => format!("pleat pipeline archive {pipeline}"),
                    None => format!("pleat delete {function}"),
                };
                self.output.note(&format!("{name} is gone; `{function}` stays deployed: `{end}`"));
            }
        }
    }

    fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.directory) {
            Ok(inside) if !inside.as_os_str().is_empty() => inside.display().to_string(),
            _ => "Cargo.toml".to_owned(),
        }
    }

    /// When each function was deployed last.
    async fn deployed_at(&self) -> Result<BTreeMap<String, SystemTime>> {
        #[derive(Deserialize)]
        struct Functions {
            functions: Vec<Function>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Function {
            name: String,
            #[serde(with = "time::serde::rfc3339")]
            updated_at: time::OffsetDateTime,
        }
        let list: Functions = parse(self.client.get(self.client.in_tenant(&["functions"]).await?).await?)?;
        Ok(list.functions.into_iter().map(|function| (function.name, function.updated_at.into())).collect())
    }
}

/// The candidates with the state of their files: all of a function's, else only its own.
fn look(directory: &Path, functions: &BTreeSet<PathBuf>) -> BTreeMap<PathBuf, Stamp> {
    let stamp = |path: PathBuf| {
        let files = if functions.contains(&path) { package::sources(&path) } else { vec![path.clone()] };
        (path, stamp_of(&files))
    };
    project::candidates(directory).into_iter().chain(project::pipelines(directory)).map(stamp).collect()
}

fn stamp_of(files: &[PathBuf]) -> Stamp {
    let state = files.iter().map(|file| {
        let about = std::fs::metadata(file).ok();
        let changed = about.as_ref().and_then(|about| about.modified().ok());
        (file.clone(), changed, about.map_or(0, |about| about.len()))
    });
    state.collect()
}

/// What takes long to build is not built again at every start: the function of its name, if that is newer than every
/// file. Scripts are simply deployed, since the same script is no new version.
fn built_before(path: &Path, stamp: &Stamp, since: &BTreeMap<String, SystemTime>) -> Option<String> {
    if !matches!(Kind::of(path), Some(Kind::Python | Kind::Crate)) {
        return None;
    }
    let name = path.file_stem()?.to_str()?;
    let deployed = since.get(name)?;
    let older = stamp.iter().all(|(_, changed, _)| changed.is_some_and(|changed| changed < *deployed));
    older.then(|| name.to_owned())
}
