//! The way out, against servers of this process and addresses that must never be dialled.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod bodies;
mod checks;
mod connections;
mod disguises;
mod headers;
mod names;
mod private_urls;
mod redirects;
mod requests;
mod support;
mod tls;
