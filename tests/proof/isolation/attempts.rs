//! Every way there is to ask for what is another's.

use serde_json::{Value, json};

use super::world::House;
use crate::random::Random;
use crate::raw::request;

/// Writes the request: who asks, whom it is about, and the name of the thing.
type Write = Box<dyn Fn(&House, &House, &str) -> Vec<u8> + Send + Sync>;

pub struct Attempt {
    pub name: String,
    pub thing: Thing,
    write: Write,
}

impl Attempt {
    pub(super) fn new(
        name: impl Into<String>,
        thing: Thing,
        write: impl Fn(&House, &House, &str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), thing, write: Box::new(write) }
    }

    pub fn request(&self, attacker: &House, victim: &House, named: &str) -> Vec<u8> {
        (self.write)(attacker, victim, named)
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Thing {
    Finished,
    Waiting,
    Running,
    Alias,
    Context,
    Cursor,
    Vault,
    Key,
    Setting,
    Tenant,
}

impl Thing {
    /// The victim's, and one of the same shape that nobody has.
    pub fn of(self, house: &House, random: &mut Random) -> (String, String) {
        let real = match self {
            Self::Finished => &house.finished,
            Self::Waiting => &house.waiting,
            Self::Running => &house.running,
            Self::Alias => &house.alias,
            Self::Context => &house.context,
            Self::Cursor => &house.cursor,
            Self::Vault => &house.vault,
            Self::Key => &house.stranger_id,
            Self::Setting => &house.setting,
            Self::Tenant => &house.tenant.slug,
        };
        let nothing = match self {
            Self::Finished | Self::Waiting | Self::Running | Self::Cursor => random.hex_tail(real, 12),
            // Not `houseNNN`, which may be somebody's.
            Self::Tenant => random.hex_tail("nobody00", 2),
            Self::Vault => random.hex_tail("hollow00", 2),
            Self::Alias | Self::Context | Self::Setting => random.hex_tail(real, 4),
            Self::Key => random.hex_tail(real, 8),
        };
        (real.clone(), nothing)
    }
}

/// Who asks where.
#[derive(Debug, Clone, Copy)]
enum Role {
    /// At one's own door, with one's own key.
    Neighbour,
    /// The same by the host instead of the path.
    NeighbourByHost,
    /// At the victim's door, with one's own key.
    Intruder,
    /// At the victim's door, with no key.
    Nobody,
    /// At the victim's door, with a key of the victim's tenant that is another caller.
    Stranger,
}

const ROLES: [Role; 5] = [Role::Neighbour, Role::NeighbourByHost, Role::Intruder, Role::Nobody, Role::Stranger];

pub fn all() -> Vec<Attempt> {
    let mut all = agent_door();
    all.extend(function_door());
    all.extend(control());
    all.extend(super::tricks::all());
    all
}

fn agent_door() -> Vec<Attempt> {
    let mut all = Vec::new();
    for role in ROLES {
        for thing in [Thing::Finished, Thing::Waiting, Thing::Running, Thing::Alias] {
            for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe", "tasks/send", "tasks/sendSubscribe"] {
                let name = format!("{method} of {thing:?} as {role:?}");
                all.push(Attempt::new(name, thing, move |attacker, victim, named| {
                    rpc(role, attacker, victim, method, &by_id(method, named), &[])
                }));
            }
            for last in ["0", "1", "4294967295"] {
                let name = format!("tasks/resubscribe to {thing:?} behind {last} as {role:?}");
                all.push(Attempt::new(name, thing, move |attacker, victim, named| {
                    let resume = format!("Last-Event-ID: {last}");
                    rpc(role, attacker, victim, "tasks/resubscribe", &json!({ "id": named }), &[&resume])
                }));
            }
        }
    }
    all
}

fn by_id(method: &str, id: &str) -> Value {
    match method {
        "tasks/send" | "tasks/sendSubscribe" => {
            // Of a skill that is nowhere: a new task under this name would be the attacker's own, and be found later.
            json!({ "id": id, "skill": "nowhere", "message": { "role": "user", "parts": [{ "type": "text", "text": "hi" }] } })
        }
        _ => json!({ "id": id }),
    }
}

fn rpc(role: Role, attacker: &House, victim: &House, method: &str, params: &Value, more: &[&str]) -> Vec<u8> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let path = |house: &House| format!("/t/{}/_a2a/", house.tenant.slug);
    let own = attacker.tenant.key.as_str();
    match role {
        Role::Neighbour => request("POST", &path(attacker), "localhost", own, more, &body),
        Role::NeighbourByHost => {
            request("POST", "/_a2a/", &format!("{}.localhost", attacker.tenant.slug), own, more, &body)
        }
        Role::Intruder => request("POST", &path(victim), "localhost", own, more, &body),
        Role::Nobody => request("POST", &path(victim), "localhost", "", more, &body),
        Role::Stranger => request("POST", &path(victim), "localhost", &victim.stranger, more, &body),
    }
}

fn function_door() -> Vec<Attempt> {
    let mut all = Vec::new();
    for method in ["GET", "POST"] {
        all.push(Attempt::new(format!("{method} of a function"), Thing::Vault, move |attacker, _, named| {
            let body = if method == "POST" { "1" } else { "" };
            request(
                method,
                &format!("/t/{}/{named}", attacker.tenant.slug),
                "localhost",
                &attacker.tenant.key,
                &[],
                body,
            )
        }));
    }
    for method in ["tasks/send", "tasks/sendSubscribe"] {
        all.push(Attempt::new(format!("{method} with a skill"), Thing::Vault, move |attacker, victim, named| {
            let params = json!({ "skill": named, "message": 1 });
            rpc(Role::Neighbour, attacker, victim, method, &params, &[])
        }));
    }
    all
}

/// In one's own tenant, and in the victim's, with one's own key that may do everything.
fn control() -> Vec<Attempt> {
    let mut rows: Vec<(&'static str, &'static str, Thing)> = vec![
        ("GET", "tasks?context={}", Thing::Context),
        ("GET", "tasks?cursor={}", Thing::Cursor),
        ("GET", "tasks?limit=1&cursor={}", Thing::Cursor),
        ("GET", "tasks?skill={}", Thing::Vault),
        ("GET", "functions/{}", Thing::Vault),
        ("GET", "functions/{}/versions", Thing::Vault),
        ("POST", "functions/{}/rollback", Thing::Vault),
        ("DELETE", "functions/{}", Thing::Vault),
        ("DELETE", "keys/{}", Thing::Key),
        ("DELETE", "secrets/{}", Thing::Setting),
        ("DELETE", "settings/{}", Thing::Setting),
        ("GET", "secrets/{}", Thing::Setting),
    ];
    for thing in [Thing::Finished, Thing::Waiting, Thing::Running] {
        rows.push(("GET", "tasks/{}", thing));
        rows.push(("GET", "tasks/{}/events", thing));
        rows.push(("GET", "tasks/{}/trace", thing));
        rows.push(("POST", "tasks/{}/cancel", thing));
        rows.push(("GET", "logs?task={}", thing));
    }
    let mut all = Vec::new();
    for (method, path, thing) in rows {
        for own in [true, false] {
            let name =
                format!("{method} {path} of {thing:?} in {} tenant", if own { "one's own" } else { "the victim's" });
            all.push(Attempt::new(name, thing, move |attacker, victim, named| {
                let slug = if own { &attacker.tenant.slug } else { &victim.tenant.slug };
                let target = format!("/api/v1/tenants/{slug}/{}", path.replace("{}", named));
                request(method, &target, "localhost", &attacker.tenant.key, &["Last-Event-ID: 0"], "")
            }));
        }
    }
    for path in ["", "/functions", "/keys", "/tasks", "/logs", "/secrets", "/settings", "/usage", "/issuers"] {
        all.push(Attempt::new(format!("GET of a tenant{path}"), Thing::Tenant, move |attacker, _, named| {
            request("GET", &format!("/api/v1/tenants/{named}{path}"), "localhost", &attacker.tenant.key, &[], "")
        }));
    }
    all
}
