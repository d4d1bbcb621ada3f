//! All SQL of Pleat, and the Postgres it runs on.
//!
//! Every query about a tenant starts from a [`TenantStore`]; row-level security is the second lock. Tasks are written
//! only through the [`Writer`], which commits many of them at once. Nothing here knows a wire format or runs a
//! function.

mod audit;
mod caller_usage;
mod card_keys;
mod claim;
mod config;
mod connect;
pub mod embedded;
mod ending;
mod error;
mod inspect;
mod limit_columns;
mod maintenance;
mod master_key_check;
mod migrate;
mod node;
mod operator_keys;
mod partitions;
mod platform;
mod push;
mod rows;
mod store;
mod sweep;
mod tenant_store;
mod usage;
mod wake;
mod writer;

pub use audit::{AuditClient, AuditEntry, AuditFilter, AuditOf, AuditRow};
pub use caller_usage::CallerUsageRow;
pub use card_keys::CardKeyRow;
pub use claim::Claimed;
pub use config::StoreConfig;
pub use error::StoreError;
pub use inspect::{Inspection, inspect, master_key_check};
pub use maintenance::Maintenance;
pub use node::{NodeId, Standing};
pub use platform::{KeyRecord, NewKey};
pub use push::{HeldPush, PushAttempt, PushBecame};
pub use store::{Load, Store};
pub use tenant_store::TenantStore;
pub use tenant_store::dispatches::DispatchRow;
pub use tenant_store::functions::{ActiveFunction, Catalog, Deployed, NewVersion, Room, VersionRow};
pub use tenant_store::guards::{FindingFilter, FindingRow, PolicyRow};
pub use tenant_store::issuers::{IssuerRecord, NewIssuer};
pub use tenant_store::key_values::KeyPage;
pub use tenant_store::listing::{TaskFilter, TaskList};
pub use tenant_store::logs::{LogFilter, LogRow};
pub use tenant_store::pipelines::{NewPipeline, PipelineDeployed, PipelineRow, PipelineVersion};
pub use tenant_store::pushes::{DeliveryFilter, DeliveryRow, PushEntry, PushFilter, PushRow};
pub use tenant_store::secrets::SecretRow;
pub use tenant_store::sessions::{NewSession, SessionChange, SessionRecord, SessionRoom};
pub use tenant_store::settings::SettingRow;
pub use tenant_store::streams::Tell;
pub use tenant_store::tasks::Sent;
pub use usage::UsageRow;
pub use wake::Wake;
pub use writer::{Change, Commit, Once, Writer, Written};
