//! Which web origins' pages may talk to us. None by default: a page that a user of an intranet opens could otherwise call
//! what is public there.
//!
//! Keys travel in a header that a page must set itself, never in cookies, so no answer ever allows credentials.

use std::time::Duration;

use axum::Router;
use http::header::{ETAG, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Method};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

/// Origins as browsers send them (`https://console.example.com`); `*` is any.
#[derive(Debug, Clone, Default)]
pub struct CorsConfig {
    pub control: Vec<String>,
    pub tenants: Vec<String>,
}

const HOUR: Duration = Duration::from_secs(3600);
const METHODS: [Method; 6] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD];

/// Puts the rules round a site; a site that allows no origin answers as if there were no such thing.
pub(crate) fn around<S: Clone + Send + Sync + 'static>(router: Router<S>, origins: &[String]) -> Router<S> {
    if origins.is_empty() { router } else { router.layer(layer(origins)) }
}

/// What a page may send and see.
fn layer(origins: &[String]) -> CorsLayer {
    let seen = [ETAG, RETRY_AFTER, WWW_AUTHENTICATE].into_iter();
    CorsLayer::new()
        .allow_origin(allowed(origins))
        .allow_methods(METHODS)
        // Whichever it asks for: arguments of tools travel in headers that their functions name (`Mcp-Param-…`), so
        // that there is no list of them, and none of ours means more than its sender may do.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(
            seen.chain(["pleat-task-id", "mcp-session-id", "a2a-extensions"].map(HeaderName::from_static))
                .collect::<Vec<_>>(),
        )
        .max_age(HOUR)
}

fn allowed(origins: &[String]) -> AllowOrigin {
    if origins.iter().any(|origin| origin == "*") {
        return AllowOrigin::any();
    }
    let values = origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase());
    AllowOrigin::list(values.filter_map(|origin| HeaderValue::from_str(&origin).ok()))
}
