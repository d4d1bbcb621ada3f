//! The SQL of a batch, put together from fixed parts: a batch pays only for what is in it.
//!
//! The common batch, finished tasks without events or logs, is one plain INSERT. Everything else is one statement of
//! common table expressions, whose parts see the same snapshot: what `settled` does not name was not written, and its
//! events and logs are not either.

/// Which parts a batch needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) inserts: bool,
    pub(super) steps: bool,
    pub(super) aliases: bool,
    pub(super) keys: bool,
    pub(super) pushes: bool,
    pub(super) updates: bool,
    pub(super) appends: bool,
    pub(super) events: bool,
    pub(super) logs: bool,
    /// Nothing but what every finished task has.
    pub(super) bare: bool,
}

impl Shape {
    pub(super) const fn is_plain(self) -> bool {
        !(self.steps
            || self.aliases
            || self.keys
            || self.pushes
            || self.updates
            || self.appends
            || self.events
            || self.logs)
    }

    /// The plain one with fewer columns: each of them is an array that is taken apart.
    pub(super) const fn is_bare(self) -> bool {
        self.bare && self.is_plain()
    }

    /// Answers the ids of the tasks whose step was taken; the plain one only how many. `again`: what it writes may be there
    /// already. Looking before each row is a quarter of what it costs, so that a plain batch does so only then.
    pub(super) fn sql(self, again: bool) -> String {
        let if_new = if again { IF_NEW } else { "" };
        if self.is_bare() {
            return format!("{BARE} {if_new}");
        }
        if self.is_plain() {
            return format!("{INSERT} FROM {TASKS} {if_new}");
        }
        let mut sql = format!("WITH input AS MATERIALIZED (SELECT * FROM {TASKS_AND_CHANGE})");
        let mut settled = Vec::new();
        if self.aliases {
            sql.push_str(ALIASED);
        }
        if self.keys {
            sql.push_str(KEYED);
        }
        if self.steps {
            sql.push_str(RUNS);
        }
        if self.inserts {
            let if_held = if self.steps { IF_RUN_IS_HELD } else { "" };
            let unless_taken = if self.aliases { UNLESS_TAKEN } else { "" };
            let unless_sent = if self.keys { UNLESS_SENT } else { "" };
            sql.push_str(&format!(
                ", inserted AS ({INSERT} FROM input u \
                 WHERE u.change IN (0, 4) {if_held} {unless_taken} {unless_sent} {IF_NEW} RETURNING tenant_id, id)"
            ));
            settled.push("SELECT tenant_id, id FROM inserted");
        }
        if self.updates {
            let after_runs = if self.steps { AFTER_RUNS } else { "" };
            sql.push_str(&format!("{UPDATED} {after_runs} RETURNING t.tenant_id, t.id)"));
            if self.keys {
                sql.push_str(KEYED_TURNS);
            }
            settled.push("SELECT tenant_id, id FROM updated");
        }
        if self.appends {
            sql.push_str(APPENDED);
            settled.push("SELECT tenant_id, id FROM appended");
        }
        sql.push_str(&format!(", settled AS ({})", settled.join(" UNION ALL ")));
        if self.events {
            sql.push_str(EVENTS);
        }
        if self.logs {
            sql.push_str(LOGS);
        }
        if self.pushes {
            sql.push_str(PUSHES);
        }
        sql.push_str(" SELECT id FROM settled");
        sql
    }
}

const BARE: &str = "\
INSERT INTO tasks (tenant_id, id, skill, version, context_id, caller, door, state, input, history, artifacts, attempt, \
turn, last_seq, cpu_us, wall_us, created_at, updated_at, lease_owner, lease_epoch) \
SELECT u.tenant_id, u.id, u.skill, u.version, u.context_id, u.caller, u.door, u.state, u.input, u.history, \
u.artifacts, 1, 1, 0, u.cpu_us, u.wall_us, u.created_at, u.updated_at, $16::uuid, $17::bigint \
FROM UNNEST($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::smallint[], \
$9::text[], $10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::timestamptz[], $15::timestamptz[]) \
AS u(tenant_id, id, skill, version, context_id, caller, door, state, input, history, artifacts, cpu_us, wall_us, \
created_at, updated_at)";

const INSERT: &str = "\
INSERT INTO tasks (tenant_id, id, skill, version, context_id, parent_id, caller, door, alias, state, failure, ask, input, \
history, artifacts, attempt, turn, last_seq, cpu_us, wall_us, created_at, updated_at, step, run, guard, lease_owner, \
lease_epoch) \
SELECT u.tenant_id, u.id, u.skill, u.version, u.context_id, u.parent_id, u.caller, u.door, u.alias, u.state, \
u.failure::json, u.ask::json, u.input, u.history, u.artifacts, u.attempt, u.turn, u.last_seq, \
u.cpu_us, u.wall_us, u.created_at, u.updated_at, u.step, u.run::json, u.guard::json, $26::uuid, $27::bigint";

const TASKS: &str = "\
UNNEST($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::text[], $6::uuid[], $7::text[], $8::text[], $9::text[], \
$10::smallint[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::smallint[], $17::smallint[], \
$18::int[], $19::bigint[], $20::bigint[], $21::timestamptz[], $22::timestamptz[], $23::text[], $24::text[], \
$25::text[]) \
AS u(tenant_id, id, skill, version, context_id, parent_id, caller, door, alias, state, failure, ask, input, history, \
artifacts, attempt, turn, last_seq, cpu_us, wall_us, created_at, updated_at, step, run, guard)";

const TASKS_AND_CHANGE: &str = "\
UNNEST($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::text[], $6::uuid[], $7::text[], $8::text[], $9::text[], \
$10::smallint[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::smallint[], $17::smallint[], \
$18::int[], $19::bigint[], $20::bigint[], $21::timestamptz[], $22::timestamptz[], $23::text[], $24::text[], \
$25::text[], $28::smallint[]) \
AS u(tenant_id, id, skill, version, context_id, parent_id, caller, door, alias, state, failure, ask, input, history, \
artifacts, attempt, turn, last_seq, cpu_us, wall_us, created_at, updated_at, step, run, guard, change)";

/// A lost connection leaves open whether an insert took effect; it is then sent again.
const IF_NEW: &str = "ON CONFLICT (tenant_id, id) DO NOTHING";

/// The runs that steps are recorded below, as long as this node holds them. Locked until the commit: whoever takes a run
/// over meanwhile either waits for its steps, and reads them, or was first, and then they are refused.
const RUNS: &str = "\
, runs AS MATERIALIZED (\
SELECT r.tenant_id, r.id FROM tasks r WHERE r.id = ANY (ARRAY(SELECT u.parent_id FROM input u WHERE u.change = 4)) \
AND r.state IN (0, 1) AND r.lease_owner = $26::uuid AND r.lease_epoch = $27::bigint FOR SHARE)";

const IF_RUN_IS_HELD: &str = "\
AND (u.change = 0 OR EXISTS (SELECT FROM runs r WHERE r.tenant_id = u.tenant_id AND r.id = u.parent_id))";

/// A row that a statement has changed itself cannot be locked by it any more, and would be passed over.
const AFTER_RUNS: &str = "AND (SELECT count(*) FROM runs) >= 0";

/// An alias whose task is past retention ($31 is the oldest id) is free again. Ordered, so that two writers that meet
/// do not lock each other out.
const ALIASED: &str = "\
, aliased AS (\
INSERT INTO task_aliases AS a (tenant_id, caller, alias, task_id) \
SELECT u.tenant_id, u.caller, u.alias, u.id FROM input u WHERE u.change = 0 AND u.alias IS NOT NULL \
ORDER BY u.tenant_id, u.caller, u.alias \
ON CONFLICT (tenant_id, caller, alias) DO UPDATE SET task_id = excluded.task_id WHERE a.task_id < $31::uuid \
RETURNING a.task_id)";

const UNLESS_TAKEN: &str = "AND (u.alias IS NULL OR u.id IN (SELECT task_id FROM aliased))";

/// As with aliases.
const KEYED: &str = "\
, keyed AS (\
INSERT INTO task_keys AS k (tenant_id, caller, key, fingerprint, task_id) \
SELECT u.tenant_id, u.caller, o.key, o.fingerprint, u.id \
FROM UNNEST($40::uuid[], $41::text[], $42::bytea[]) AS o(task_id, key, fingerprint) \
JOIN input u ON u.id = o.task_id WHERE u.change = 0 \
ORDER BY u.tenant_id, u.caller, o.key \
ON CONFLICT (tenant_id, caller, key) \
DO UPDATE SET task_id = excluded.task_id, fingerprint = excluded.fingerprint, after_seq = 0 WHERE k.task_id < $31::uuid \
RETURNING k.task_id)";

const UNLESS_SENT: &str = "AND (u.id <> ALL ($40::uuid[]) OR u.id IN (SELECT task_id FROM keyed))";

/// A turn is taken once by its number; its key only tells a repeated message which task it was for, and where in it the
/// turn began: the commit has the turn's first event.
const KEYED_TURNS: &str = "\
, keyed_turns AS (\
INSERT INTO task_keys AS k (tenant_id, caller, key, fingerprint, task_id, after_seq) \
SELECT u.tenant_id, u.caller, o.key, o.fingerprint, u.id, u.last_seq - 1 \
FROM UNNEST($40::uuid[], $41::text[], $42::bytea[]) AS o(task_id, key, fingerprint) \
JOIN updated d ON d.id = o.task_id JOIN input u ON u.id = o.task_id WHERE u.change = 2 \
ORDER BY u.tenant_id, u.caller, o.key \
ON CONFLICT (tenant_id, caller, key) \
DO UPDATE SET task_id = excluded.task_id, fingerprint = excluded.fingerprint, after_seq = excluded.after_seq \
WHERE k.task_id < $31::uuid)";

/// What a waiting task asked for stays until its next turn is over: who takes that turn over needs what was kept.
/// Without the bounds, the join would visit every partition.
const UPDATED: &str = "\
, updated AS (\
UPDATE tasks t SET skill = u.skill, version = u.version, state = u.state, failure = u.failure::json, \
ask = CASE WHEN u.state = 1 THEN t.ask ELSE u.ask::json END, \
input = coalesce(u.input, t.input), history = u.history, artifacts = u.artifacts, \
attempt = u.attempt, turn = u.turn, last_seq = u.last_seq, cpu_us = u.cpu_us, wall_us = u.wall_us, \
updated_at = u.updated_at, run = coalesce(u.run::json, t.run), \
guard = coalesce(u.guard::json, t.guard), lease_owner = $26::uuid, lease_epoch = $27::bigint \
FROM input u \
WHERE t.tenant_id = u.tenant_id AND t.id = u.id AND t.id BETWEEN $29::uuid AND $30::uuid AND (\
(u.change = 1 AND t.state IN (0, 1) AND t.lease_owner = $26::uuid AND t.lease_epoch = $27::bigint) OR \
(u.change = 2 AND t.state IN (2, 3) AND t.turn = u.turn - 1))";

const APPENDED: &str = "\
, appended AS (\
SELECT t.tenant_id, t.id FROM input u JOIN tasks t ON t.tenant_id = u.tenant_id AND t.id = u.id \
WHERE u.change = 3 AND t.id BETWEEN $29::uuid AND $30::uuid \
AND t.state IN (0, 1) AND t.lease_owner = $26::uuid AND t.lease_epoch = $27::bigint)";

const EVENTS: &str = "\
, evented AS (\
INSERT INTO task_events (tenant_id, task_id, seq, at, body) \
SELECT s.tenant_id, s.id, e.seq, e.at, e.body::json \
FROM UNNEST($32::uuid[], $33::int[], $34::timestamptz[], $35::text[]) AS e(task_id, seq, at, body) \
JOIN settled s ON s.id = e.task_id)";

const LOGS: &str = "\
, logged AS (\
INSERT INTO task_logs (tenant_id, task_id, seq, skill, version, at, lines) \
SELECT s.tenant_id, s.id, l.seq, u.skill, u.version, l.at, l.lines::json \
FROM UNNEST($36::uuid[], $37::int[], $38::timestamptz[], $39::text[]) AS l(task_id, seq, at, lines) \
JOIN settled s ON s.id = l.task_id JOIN input u ON u.tenant_id = s.tenant_id AND u.id = s.id \
ON CONFLICT (task_id, seq) DO NOTHING)";

const PUSHES: &str = "\
, pushed AS (\
INSERT INTO push_configs (tenant_id, task_id, id, caller, dialect, destination, sealed, delivered) \
SELECT s.tenant_id, s.id, p.id, p.caller, p.dialect, p.destination, p.sealed, p.delivered \
FROM UNNEST($43::uuid[], $44::text[], $45::text[], $46::text[], $47::text[], $48::bytea[], $49::int[]) \
AS p(task_id, id, caller, dialect, destination, sealed, delivered) JOIN settled s ON s.id = p.task_id)";
