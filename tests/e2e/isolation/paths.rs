//! A path means what it says, byte for byte: nothing is decoded, joined or folded before the tenant is decided.

use super::Neighbours;
use super::raw::{get, send, send_bytes};

const CARD: &str = "/.well-known/agent-card.json";

/// Ways to write `other` that are not `/t/other`.
const DETOURS: &[&str] = &[
    "/t/acme/../other",
    "/t/acme/..%2fother",
    "/t/acme/%2e%2e/other",
    "/t/acme/%2e%2e%2fother",
    "/t/acme/.%2e/other",
    "/t/acme%2f..%2fother",
    "/t/acme/..;/other",
    "/t/acme/..\\other",
    "/t/acme\\..\\other",
    "/t/acme//../other",
    "/t/acme/./../other",
    "/t/acme/%c0%ae%c0%ae/other",
    "/t/acme/%252e%252e/other",
    "/t//other",
    "/t/./other",
    "/./t/other",
    "//t/other",
    "/t%2fother",
    "/%74/other",
    "/T/other",
    "/t/OTHER",
    "/t/Other",
    "/t/%6fther",
    "/t/other%00",
    "/t/other%20",
    "/t/other.",
    "/t/other;",
    "/t/other;a=b",
    "/t/other%2f",
    "/t/other\\",
    "/t\\other",
    "/t/acme,other",
    "/t/ other",
    "/t/other ",
    "/t/\u{ff4f}ther",
    "/t/other\t",
];

#[tokio::test]
async fn no_detour_leads_to_another_tenant() {
    let Neighbours { server, .. } = Neighbours::start().await;
    let (status, text) = get(&server, "localhost", &format!("/t/other{CARD}")).await;
    assert!(status == 200 && text.contains("treasure"), "the straight way must work: {text}");
    for host in ["localhost", "acme.localhost"] {
        for detour in DETOURS {
            for rest in ["", "/", CARD, "/treasure"] {
                let target = format!("{detour}{rest}");
                let (status, text) = get(&server, host, &target).await;
                assert!(matches!(status, 400 | 404), "{host} {target:?}: {text}");
                assert!(!text.contains("minimal"), "{host} {target:?}: {text}");
            }
        }
        for raw in [b"GET /t/other\0/ HTTP/1.1".as_slice(), b"GET /t/acme/\x01 HTTP/1.1", b"GET /t/\xffother/ HTTP/1.1"]
        {
            let request = [raw, b"\r\nHost: ", host.as_bytes(), b"\r\nConnection: close\r\n\r\n"].concat();
            let (status, text) = send_bytes(&server, &request).await;
            assert!(matches!(status, 400 | 404), "{:?}: {text}", String::from_utf8_lossy(raw));
        }
    }
}

#[tokio::test]
async fn a_tenants_host_serves_that_tenant_and_nothing_else() {
    let Neighbours { server, .. } = Neighbours::start().await;
    let paths = ["/t/other/", "/t/acme/", "/api/v1/whoami", "/api/v1/openapi.json", "/healthz", "/readyz"];
    for path in paths {
        for (host, target) in [("acme.localhost", path.to_owned()), ("localhost", format!("/t/acme{path}"))] {
            let (status, text) = get(&server, host, &target).await;
            assert_eq!(status, 404, "{host} {target}: {text}");
        }
    }
    for target in [CARD, "/_a2a/", "/private", "/.well-known/agent.json"] {
        let (status, text) = get(&server, "localhost", target).await;
        assert_eq!(status, 404, "the control host has no {target}: {text}");
    }
}

#[tokio::test]
async fn no_detour_in_the_control_api_leads_to_another_tenant() {
    let Neighbours { server, other, .. } = Neighbours::start().await;
    let ask = async |key: &str, tenant: &str| {
        let line = format!("GET /api/v1/tenants/{tenant}/functions HTTP/1.1");
        send(&server, &[&line, "Host: localhost", &format!("Authorization: Bearer {key}")]).await
    };
    let (status, text) = ask(&other, "other").await;
    assert!(status == 200 && text.contains("treasure"), "{text}");
    let detours = [
        "acme/../other",
        "acme%2f..%2fother",
        "acme/%2e%2e/other",
        "other",
        "%6fther",
        "OTHER",
        "other%00",
        "other%20",
        "other;acme",
        "acme,other",
        "",
        "%ff",
    ];
    for detour in detours {
        let (status, text) = ask(&server.admin, detour).await;
        assert!(matches!(status, 400 | 401 | 404), "{detour}: {text}");
        assert!(!text.contains("treasure"), "{detour}: {text}");
    }
}
