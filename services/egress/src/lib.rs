//! All outbound HTTP of the platform: what functions fetch, and the key sets of token issuers.
//!
//! A request leaves only through [`Egress::send`], and only to addresses that anybody on the internet could reach, or
//! that the operator named. The check is made on the address that is dialled, so that no spelling of a name, no answer
//! of a resolver and no redirect leads around it.

mod address;
mod body;
mod clients;
mod config;
mod connect;
mod egress;
mod error;
mod guard;
mod headers;
mod host;
mod message;
mod redirect;
mod resolve;
mod rule;
mod slots;
mod tls;

pub use address::is_public;
pub use config::EgressConfig;
pub use egress::Egress;
pub use error::{BadConfig, EgressError};
pub use host::{BadHost, HostGrants, HostPattern};
pub use message::{OutboundRequest, OutboundResponse};
pub use resolve::{Resolver, Table};
pub use rule::AllowRule;
