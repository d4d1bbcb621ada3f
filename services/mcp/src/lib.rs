//! The Model Context Protocol: messages, versions, and how functions and tasks look in it.
//!
//! Pure: bytes and domain values in, bytes and domain values out. Two eras are served at one address. The session era
//! (up to 2025-11-25) begins with `initialize`; from 2026-07-28 on every request says for itself what its client is.

pub mod capabilities;
pub mod client;
pub mod completion;
pub mod content;
pub mod error;
pub mod headers;
pub mod level;
pub mod message;
pub mod meta;
pub mod notification;
pub mod params;
pub mod prompt;
pub mod resource;
pub mod result;
pub mod task;
pub mod template;
pub mod tool;
pub mod version;

pub use capabilities::ClientCapabilities;
pub use error::{Fault, RpcError};
pub use level::Level;
pub use message::{Incoming, Message, Request};
pub use meta::Meta;
pub use version::Version;
