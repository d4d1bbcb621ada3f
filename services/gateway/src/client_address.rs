//! The address of the client that sent a request, for limits per address and for the audit log.

use std::net::IpAddr;

/// Set once per request by the server, as a request extension. Handlers read it and never look at forwarding headers
/// themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClientAddress(pub(crate) IpAddr);
