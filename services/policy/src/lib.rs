//! The one seam through which every permission is decided: may this principal do this to that.
//!
//! Pure. Whoever performs an action asks `decide` first; scopes and visibility are looked at nowhere else.

mod decision;

pub use decision::{Action, Decision, Denial, decide};
