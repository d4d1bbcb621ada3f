//! A batch as columns: what the statement's UNNEST takes.

use pleat_domain::SkillName;
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::node::Epoch;
use crate::tenant_store::pushes::PushEntry;
use crate::writer::Change;
use crate::writer::encoded::Encoded;
use crate::writer::statement::Shape;

type Prepared<'a> = Query<'a, Postgres, PgArguments>;

/// Which parts of the statement these commits need.
pub(super) fn shape<'a>(commits: impl Iterator<Item = &'a Encoded>) -> Shape {
    let mut shape = Shape { bare: true, ..Shape::default() };
    for commit in commits {
        shape.bare &= commit.is_bare();
        match commit.commit.change {
            Change::Insert => {
                shape.inserts = true;
                shape.aliases |= commit.task().alias.is_some();
                shape.pushes |= commit.commit.push.is_some();
            }
            Change::Step => (shape.inserts, shape.steps) = (true, true),
            Change::Update | Change::Resume => shape.updates = true,
            Change::Append => shape.appends = true,
        }
        shape.keys |= commit.commit.once.is_some();
        shape.events |= !commit.events.is_empty();
        shape.logs |= commit.logs.is_some();
    }
    shape
}

/// The statement with its arguments. `oldest` is the smallest id within retention.
pub(super) fn bind<'a>(
    query: Prepared<'a>,
    commits: &[&Encoded],
    lease: Epoch,
    oldest: Uuid,
    shape: Shape,
) -> Prepared<'a> {
    let query = if shape.is_bare() { bind_bare(query, commits) } else { bind_tasks(query, commits) };
    let query = query.bind(lease.node).bind(lease.epoch);
    if shape.is_plain() {
        return query;
    }
    let ids = || commits.iter().map(|commit| commit.id());
    let query = query
        .bind(column(commits, |commit| code(commit.commit.change)))
        .bind(ids().min())
        .bind(ids().max())
        .bind(oldest);
    let query = bind_logs(bind_events(query, commits), commits);
    let query = if shape.keys || shape.pushes { bind_keys(query, commits) } else { query };
    if shape.pushes { bind_pushes(query, commits) } else { query }
}

fn bind_bare<'a>(query: Prepared<'a>, commits: &[&Encoded]) -> Prepared<'a> {
    query
        .bind(column(commits, |commit| commit.commit.tenant.as_uuid()))
        .bind(column(commits, Encoded::id))
        .bind(texts(commits, |commit| commit.task().skill.as_ref().map(SkillName::as_str)))
        .bind(column(commits, |commit| commit.task().version))
        .bind(texts(commits, |commit| commit.context.as_deref()))
        .bind(texts(commits, |commit| Some(commit.task().caller.as_str())))
        .bind(texts(commits, |commit| Some(commit.task().door.as_str())))
        .bind(column(commits, |commit| commit.task().state.to_code()))
        .bind(texts(commits, Encoded::input))
        .bind(texts(commits, |commit| commit.history.as_deref()))
        .bind(texts(commits, |commit| commit.artifacts.as_deref()))
        .bind(column(commits, |commit| commit.task().cpu_us))
        .bind(column(commits, |commit| commit.task().wall_us))
        .bind(column(commits, |commit| commit.task().created_at))
        .bind(column(commits, |commit| commit.task().updated_at))
}

fn bind_tasks<'a>(query: Prepared<'a>, commits: &[&Encoded]) -> Prepared<'a> {
    query
        .bind(column(commits, |commit| commit.commit.tenant.as_uuid()))
        .bind(column(commits, Encoded::id))
        .bind(texts(commits, |commit| commit.task().skill.as_ref().map(SkillName::as_str)))
        .bind(column(commits, |commit| commit.task().version))
        .bind(texts(commits, |commit| commit.context.as_deref()))
        .bind(column(commits, |commit| commit.task().parent.map(|parent| parent.as_uuid())))
        .bind(texts(commits, |commit| Some(commit.task().caller.as_str())))
        .bind(texts(commits, |commit| Some(commit.task().door.as_str())))
        .bind(texts(commits, |commit| commit.task().alias.as_deref()))
        .bind(column(commits, |commit| commit.task().state.to_code()))
        .bind(texts(commits, |commit| commit.failure.as_deref()))
        .bind(texts(commits, |commit| commit.ask.as_deref()))
        .bind(texts(commits, Encoded::input))
        .bind(texts(commits, |commit| commit.history.as_deref()))
        .bind(texts(commits, |commit| commit.artifacts.as_deref()))
        .bind(column(commits, |commit| commit.task().attempt))
        .bind(column(commits, |commit| commit.task().turn))
        .bind(column(commits, |commit| integer(commit.task().last_seq)))
        .bind(column(commits, |commit| commit.task().cpu_us))
        .bind(column(commits, |commit| commit.task().wall_us))
        .bind(column(commits, |commit| commit.task().created_at))
        .bind(column(commits, |commit| commit.task().updated_at))
        .bind(texts(commits, |commit| commit.task().step.as_deref()))
        .bind(texts(commits, |commit| commit.run.as_deref()))
        .bind(texts(commits, |commit| commit.guard.as_deref()))
}

fn bind_events<'a>(query: Prepared<'a>, commits: &[&Encoded]) -> Prepared<'a> {
    let (mut ids, mut seqs, mut times, mut bodies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for commit in commits {
        for (event, body) in commit.commit.events.iter().zip(&commit.events) {
            ids.push(commit.id());
            seqs.push(integer(event.seq));
            times.push(event.at);
            bodies.push(body.as_str());
        }
    }
    query.bind(ids).bind(seqs).bind(times).bind(bodies)
}

fn bind_logs<'a>(query: Prepared<'a>, commits: &[&Encoded]) -> Prepared<'a> {
    let (mut ids, mut seqs, mut times, mut lines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for commit in commits {
        let Some(text) = &commit.logs else { continue };
        ids.push(commit.id());
        seqs.push(integer(commit.commit.log_seq));
        times.push(commit.commit.logs.last().map_or(OffsetDateTime::UNIX_EPOCH, |line| line.at));
        lines.push(text.as_str());
    }
    query.bind(ids).bind(seqs).bind(times).bind(lines)
}

fn bind_keys<'a>(query: Prepared<'a>, commits: &[&Encoded]) -> Prepared<'a> {
    let (mut ids, mut keys, mut fingerprints) = (Vec::new(), Vec::new(), Vec::new());
    for commit in commits {
        let Some(once) = &commit.commit.once else { continue };
        ids.push(commit.id());
        keys.push(once.key.as_str());
        fingerprints.push(once.fingerprint.as_slice());
    }
    query.bind(ids).bind(keys).bind(fingerprints)
}

fn bind_pushes<'a>(query: Prepared<'a>, commits: &[&Encoded]) -> Prepared<'a> {
    let pushes: Vec<(Uuid, &PushEntry)> =
        commits.iter().filter_map(|commit| Some((commit.id(), commit.commit.push.as_ref()?))).collect();
    let texts = |text: fn(&PushEntry) -> &str| pushes.iter().map(|(_, push)| text(push)).collect::<Vec<_>>();
    query
        .bind(pushes.iter().map(|(id, _)| *id).collect::<Vec<_>>())
        .bind(texts(|push| &push.id))
        .bind(texts(|push| push.caller.as_str()))
        .bind(texts(|push| push.dialect.as_str()))
        .bind(texts(|push| &push.destination))
        .bind(pushes.iter().map(|(_, push)| push.sealed.as_slice()).collect::<Vec<_>>())
        .bind(pushes.iter().map(|(_, push)| integer(push.delivered)).collect::<Vec<_>>())
}

fn column<T>(commits: &[&Encoded], value: impl Fn(&Encoded) -> T) -> Vec<T> {
    commits.iter().map(|commit| value(commit)).collect()
}

fn texts<'a>(commits: &[&'a Encoded], value: impl Fn(&'a Encoded) -> Option<&'a str>) -> Vec<Option<&'a str>> {
    commits.iter().map(|commit| value(commit)).collect()
}

pub(super) fn integer(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// The numbers that the statement compares `change` with.
const fn code(change: Change) -> i16 {
    match change {
        Change::Insert => 0,
        Change::Update => 1,
        Change::Resume => 2,
        Change::Append => 3,
        Change::Step => 4,
    }
}
