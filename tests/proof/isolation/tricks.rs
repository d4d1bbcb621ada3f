//! Requests that look as if they were for another tenant than the one they are for.

use super::attempts::{Attempt, Thing};
use crate::raw::request;

/// Ways to write a path to `{}` that is not `/t/{}`; `[]` is the attacker's own.
const PATHS: &[&str] = &[
    "/t/[]/../{}",
    "/t/[]/..%2f{}",
    "/t/[]/%2e%2e/{}",
    "/t/[]/%2e%2e%2f{}",
    "/t/[]/.%2e/{}",
    "/t/[]%2f..%2f{}",
    "/t/[]/..;/{}",
    "/t/[]/..\\{}",
    "/t/[]//../{}",
    "/t/[]/./../{}",
    "/t/[]/%c0%ae%c0%ae/{}",
    "/t/[]/%252e%252e/{}",
    "/t/[]/t/{}",
    "/t//{}",
    "/t/./{}",
    "/./t/{}",
    "//t/{}",
    "/t%2f{}",
    "/%74/{}",
    "/T/{}",
    "/t/{}%00",
    "/t/{}\0",
    "/t/{}%20",
    "/t/{}.",
    "/t/{};",
    "/t/{};a=b",
    "/t/{}%2f",
    "/t/{}\\",
    "/t\\{}",
    "/t/[],{}",
    "/t/{},[]",
    "/t/ {}",
    "/t/{}\t",
    "/t/{}\u{200b}",
    "/api/v1/tenants/[]/../{}",
    "/api/v1/tenants/[]%2f..%2f{}",
    "/api/v1/tenants/{}%00",
];

const RESTS: [&str; 4] = ["/.well-known/agent-card.json", "/probe", "/_a2a/", "/functions"];

/// Headers that some servers take for the host or the path.
const HEADERS: &[&str] = &[
    "X-Forwarded-Host: {}.localhost",
    "Forwarded: host={}.localhost;proto=https",
    "X-Host: {}.localhost",
    "X-Original-Host: {}.localhost",
    "X-Forwarded-Server: {}.localhost",
    "X-Original-URL: /t/{}/",
    "X-Rewrite-URL: /t/{}/",
    "X-Forwarded-Prefix: /t/{}",
    "X-Tenant: {}",
    "X-Tenant-Id: {}",
    "Host: {}.localhost",
    "host : {}.localhost",
    " Host: {}.localhost",
    "Transfer-Encoding: chunked, {}",
    "Referer: http://{}.localhost/",
    "Origin: http://{}.localhost",
    "Cookie: tenant={}",
];

/// Hosts that have another's name in them.
const HOSTS: &[&str] = &[
    "{}.localhost.evil",
    "{}.localhost.evil:80",
    "{}.[].localhost",
    "[].localhost, {}.localhost",
    "[].localhost {}.localhost",
    "[].localhost/{}.localhost",
    "[].localhost#{}.localhost",
    "{}.localhost@[].localhost",
    "[].localhost@{}.localhost",
    "{}%2elocalhost",
    "{}\0.localhost",
    "{}.localhost..",
    "{}.localhost:http",
    "{}_.localhost",
    "-{}.localhost",
];

pub(super) fn all() -> Vec<Attempt> {
    let mut all = Vec::new();
    for path in PATHS {
        for rest in RESTS {
            let name = format!("GET {path:?}{rest}");
            all.push(Attempt::new(name, Thing::Tenant, move |attacker, _, named| {
                let target = format!("{}{rest}", path.replace("[]", &attacker.tenant.slug).replace("{}", named));
                request("GET", &target, "localhost", &attacker.tenant.key, &[], "")
            }));
        }
    }
    for header in HEADERS {
        for (target, host) in [("/probe", "[].localhost"), ("/t/[]/.well-known/agent-card.json", "localhost")] {
            all.push(Attempt::new(
                format!("GET {target} with {header:?}"),
                Thing::Tenant,
                move |attacker, _, named| {
                    let own = |text: &str| text.replace("[]", &attacker.tenant.slug);
                    let header = header.replace("{}", named);
                    request("GET", &own(target), &own(host), &attacker.tenant.key, &[&header], "")
                },
            ));
        }
    }
    for host in HOSTS {
        for target in ["/probe", "/.well-known/agent-card.json", "/_a2a/"] {
            all.push(Attempt::new(format!("GET {target} at {host:?}"), Thing::Tenant, move |attacker, _, named| {
                let host = host.replace("[]", &attacker.tenant.slug).replace("{}", named);
                request("GET", target, &host, &attacker.tenant.key, &[], "")
            }));
        }
    }
    for target in
        ["http://{}.localhost/probe", "http://{}.localhost/.well-known/agent-card.json", "//{}.localhost/probe"]
    {
        all.push(Attempt::new(format!("GET {target}"), Thing::Tenant, move |attacker, _, named| {
            let host = format!("{}.localhost", attacker.tenant.slug);
            request("GET", &target.replace("{}", named), &host, &attacker.tenant.key, &[], "")
        }));
    }
    all
}
