//! The use cases: invoke, tasks, deployments, tenants, keys and issuers of tokens.
//!
//! Doors translate a wire into these calls and back; everything that is decided is decided here, over the effects
//! (`store`, `runtime`, `egress`) and the pure crates. Nothing in here knows HTTP or a protocol.

mod absent_tenants;
mod admin;
mod admission;
mod answer;
mod audit;
mod auth;
mod book;
mod caller_usage;
mod calling;
mod card_keys;
mod catalog;
mod choice;
mod deploy;
mod dispatches;
mod ear;
mod engine;
mod error;
mod findings;
mod grant;
mod guarding;
mod guest_host;
mod handles;
mod held;
mod hooks;
mod hub;
mod invoke;
mod issuers;
mod keyring;
mod lasting;
mod listeners;
mod listing;
mod load;
mod measure;
mod meter;
mod news;
mod nodes;
mod offers;
mod once;
mod operator_keys;
mod outcome;
mod pipeline;
mod pipelines;
mod policies;
mod push;
mod reach;
mod renewal;
mod replay;
mod run;
mod schema;
mod seal;
mod session_calls;
mod sessions;
mod settings;
mod sink;
mod slots;
mod subscribe;
mod takeover;
mod tasks;
mod tidy;
mod tokens;
mod usage;
mod waiting;
mod watch;
mod writing;

pub use admin::{MintedKey, NewKeyRequest};
pub use answer::{Answer, Going};
pub use audit::{AuditPage, AuditQuery, AuditScope, audit_client};
pub use card_keys::{CardKey, CardSigner, PublicKeys};
pub use catalog::{Callable, Catalog, CatalogWatch, Skill};
pub use choice::Question;
pub use deploy::{DeployReport, RollbackReport, Upload};
pub use ear::{Ear, Listening, Said};
pub use engine::{Engine, EngineConfig};
pub use error::{EngineError, Reached, Violation};
pub use findings::FindingPage;
pub use handles::Handles;
pub use held::Held;
pub use hooks::{Denied, Hook, Hooks, VerbEvent, VerbOutcome};
pub use invoke::{Begun, Invocation, Turn};
pub use issuers::{KeySource, NewIssuerRequest};
pub use keyring::MasterKey;
pub use listeners::Listener;
pub use listing::{ListPage, ListQuery, TaskPage, TaskQuery};
pub use offers::{Offer, Wanted};
pub use once::IdempotencyKey;
pub use operator_keys::recover_operator_key;
pub use pipelines::{PipelineReport, PipelineUpload};
pub use policies::SkillPolicy;
pub use push::{DeliveryPage, DeliveryQuery, Encode, Notice, PushPage, PushQuery, PushTimes, ToTell};
pub use replay::{MOST_REPLAYED, Replayed};
pub use session_calls::SessionCall;
pub use sessions::{SessionLimits, SessionWatch};
pub use slots::SlotUse;
pub use subscribe::{EventStream, Until, one_turn};
pub use tasks::{LogEntry, LogPage, LogQuery, Trace};
pub use tokens::KeySetTimes;
pub use usage::{SkillUsage, UsageQuery};

/// What is wrong with a definition, with the places.
pub use pleat_pipelines::{Definition, Fault, Faults, explain, graph};
/// Rows that the edges show as they are.
pub use pleat_store::{
    AuditClient, AuditRow, DeliveryRow, FindingFilter, FindingRow, IssuerRecord, KeyRecord, PipelineRow,
    PipelineVersion, PolicyRow, PushRow, SecretRow, SessionRecord, SettingRow, Tell, VersionRow,
};

/// What guardrails say.
pub use pleat_guardrails::{Action as GuardAction, Finding, Side};
