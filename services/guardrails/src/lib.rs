//! Guardrails: policies, the checks they name, and what is done about what those find.
//!
//! Pure. A [`Policy`] is parsed from JSON and made into a [`Guard`]; a guard looks at values ([`Guard::inspect`]) and at
//! streams of text ([`Guard::stream`]) and gives a [`Verdict`]. What is to be redacted is redacted in place, with
//! placeholders that a [`Session`] keeps the same within one task. Findings carry a rule, a JSON pointer and a keyed
//! hash, never the value. Nothing here knows of tenants, doors or storage.

mod analysis;
pub mod corpus;
mod decode;
mod finding;
mod fold;
mod guard;
mod injection;
mod kind;
mod lexicon;
mod mask;
mod pii;
mod policy;
mod redact;
mod scan;
mod secrets;
mod session;
mod stream;
mod unicode;
mod url;
mod walk;
mod work;

pub use finding::{Finding, Verdict};
pub use guard::{Guard, Place, Side};
pub use kind::Kind;
pub use policy::{Action, Check, CheckType, Fault, Faults, Mode, OnError, Policy, Severity, Target};
pub use session::{Numbering, Session, SharedNumbering};
pub use stream::Stream;
