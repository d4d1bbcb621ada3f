//! The words of Pleat: tenants, keys, skills, tasks, events and content.
//!
//! Pure: no I/O, no async, no clock of its own. Every other crate speaks in these types, and the
//! wire formats of the doors are projections of them.

pub mod audit;
pub mod bundle;
pub mod caller_count;
pub mod capability;
pub mod content;
pub mod event;
pub mod failure;
pub mod grants;
pub mod ids;
pub mod json;
pub mod key;
pub mod limits;
pub mod manifest;
pub mod message;
pub mod name;
pub mod pipeline;
pub mod plan;
pub mod principal;
pub mod push;
pub mod quota;
pub mod scope;
pub mod setting;
pub mod task;
pub mod tenant;
pub mod timestamp;
pub mod turns;
pub mod usage;

pub use audit::AuditAction;
pub use bundle::{Bundle, BundleFault};
pub use capability::Capability;
pub use content::Block;
pub use event::{Event, EventBody, LogLevel, LogLine, StepChange, StepPhase};
pub use failure::{Failure, Reason};
pub use grants::{Grants, Visibility};
pub use ids::{ContextId, SessionId, TaskId, VersionHash};
pub use json::{JsonFault, Raw};
pub use limits::CallLimits;
pub use manifest::{Manifest, TaskSupport};
pub use message::{Message, RequestNotes, Role, Source};
pub use name::SkillName;
pub use pipeline::{PipelineState, RunRecord};
pub use plan::{Plan, PlanName, Plans};
pub use principal::{Caller, Principal};
pub use push::{Dialect, NewPush, PushAuth, PushConfig};
pub use quota::{KeyLimits, Limit};
pub use scope::{Scope, Scopes};
pub use setting::SettingName;
pub use task::{Artifact, ClientAsk, ClientKind, ClientRequest, Door, Task, TaskState};
pub use tenant::{CardVersions, Tenant, TenantId, TenantSlug};
pub use usage::{CallerUsage, Usage};
