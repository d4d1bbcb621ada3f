//! The A2A wire: JSON-RPC envelopes, the codecs of each protocol family, and the agent card.
//!
//! Pure: no I/O, no async, no decisions about who may do what. A door parses bytes with [`jsonrpc`], reads the
//! parameters with the codec of the method's family, and writes the engine's answer back with the same codec.
//! The families are [`legacy`] (0.1) and [`messages`] (0.3 and 1.0); [`method`] tells which one a name belongs to.

pub mod card;
pub mod error;
pub mod extension;
mod fields;
mod input;
pub mod jsonrpc;
pub mod legacy;
pub mod media;
pub mod messages;
mod metadata;
pub mod method;
mod part;
pub mod skill;
pub mod value;

pub use card::{CardSkill, CardSource, Served, Shape};
pub use error::{BadRequest, Fault, InvalidParams};
pub use input::Input;
pub use jsonrpc::Request;

/// The extension by which a client has each of its messages count once, by `messageId`. Not the default: clients that
/// use one id for several messages exist.
pub const MESSAGE_ONCE: &str = "urn:pleat:a2a:message-once:v1";
