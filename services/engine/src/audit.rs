//! The audit log: who changed what, recorded in the transaction of the change, and who was denied.
//!
//! Edges say once per request where it comes from ([`audit_client`]); use cases say what they are about to change.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pleat_domain::{AuditAction, Principal, Scope, Tenant, TenantId, TenantSlug};
use pleat_policy::Action;
use pleat_store::{AuditClient, AuditEntry, AuditFilter, AuditOf, AuditRow, TenantStore};
use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::engine::{Engine, authorize};
use crate::error::EngineError;

/// Rows on a page at most.
const MAX_PAGE: u32 = 100;
/// Denied attempts recorded per principal in a window; others are counted only, so that nobody fills the table.
const MAX_DENIED: u32 = 60;
const DENIED_WINDOW: Duration = Duration::from_secs(60);

tokio::task_local! {
    static CLIENT: Arc<AuditClient>;
}

/// Runs a request; what it changes is recorded as coming from this client.
pub async fn audit_client<F: Future>(client: Arc<AuditClient>, request: F) -> F::Output {
    CLIENT.scope(client, request).await
}

/// Which rows of the audit log to list.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    pub action: Option<AuditAction>,
    /// Id of a key, or issuer and subject of a token.
    pub actor: Option<String>,
    pub target: Option<String>,
    pub since: Option<OffsetDateTime>,
    pub until: Option<OffsetDateTime>,
    /// 1 to 100.
    pub limit: u32,
    /// `next` of the page before.
    pub cursor: Option<String>,
}

/// Whose rows an operator asks for.
#[derive(Debug, Clone, Default)]
pub enum AuditScope {
    #[default]
    Everybody,
    Platform,
    Tenant(TenantSlug),
}

#[derive(Debug)]
pub struct AuditPage {
    pub rows: Vec<AuditRow>,
    /// Good for the same list and the same filters only.
    pub next: Option<String>,
}

/// Denied attempts of each principal in the present window.
pub(crate) struct DeniedCounts(moka::sync::Cache<String, Arc<std::sync::atomic::AtomicU32>>);

impl DeniedCounts {
    pub(crate) fn new() -> Self {
        Self(moka::sync::Cache::builder().max_capacity(100_000).time_to_live(DENIED_WINDOW).build())
    }

    fn may_record(&self, actor: &str) -> bool {
        let count = self.0.get_with(actor.to_owned(), Arc::default);
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < MAX_DENIED
    }
}

impl Engine {
    /// A tenant's rows, the latest first, for its admins.
    pub async fn audit_log(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        query: &AuditQuery,
    ) -> Result<AuditPage, EngineError> {
        authorize(principal, Action::ReadAudit, EngineError::UnknownTenant)?;
        let list = tenant.id.as_uuid().to_string();
        let filter = self.audit_filter(&list, query)?;
        let rows = self.tenant_store(tenant).audit_log(&filter).await?;
        Ok(self.audit_page(&list, query, rows))
    }

    /// Rows of all tenants and of the platform, the latest first, for operators.
    pub async fn platform_audit_log(
        &self,
        principal: &Principal,
        scope: &AuditScope,
        query: &AuditQuery,
    ) -> Result<AuditPage, EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        let of = match scope {
            AuditScope::Everybody => AuditOf::Everybody,
            AuditScope::Platform => AuditOf::Platform,
            AuditScope::Tenant(slug) => {
                let tenant = self.inner.store.tenant_named(slug).await?.ok_or(EngineError::UnknownTenant)?;
                AuditOf::Tenant(tenant)
            }
        };
        let list = format!("{of:?}");
        let filter = self.audit_filter(&list, query)?;
        let rows = self.inner.store.audit_log(of, &filter).await?;
        Ok(self.audit_page(&list, query, rows))
    }

    /// Records that an authenticated principal was denied an action. Failing is logged and counted: the answer is a
    /// refusal anyway.
    pub async fn audit_denied(&self, principal: &Principal, action: AuditAction, target: &str) {
        let tenant = match principal {
            Principal::Anonymous => return,
            Principal::Operator { .. } => None,
            Principal::Key { tenant, .. } | Principal::Token { tenant, .. } => Some(*tenant),
        };
        if !self.inner.denied.may_record(principal.caller().as_str()) {
            metrics::counter!("pleat_audit_denied_dropped_total").increment(1);
            return;
        }
        let entry = AuditEntry { denied: true, ..self.audit_entry(principal, action, target).await };
        self.append_audit(tenant, &entry).await;
    }

    /// Records a change that was not made in a transaction of its own.
    pub async fn audit_done(&self, tenant: &Tenant, principal: &Principal, action: AuditAction, target: &str) {
        let entry = self.audit_entry(principal, action, target).await;
        self.append_audit(Some(tenant.id), &entry).await;
    }

    async fn append_audit(&self, tenant: Option<TenantId>, entry: &AuditEntry) {
        if let Err(error) = self.inner.store.append_audit(tenant, entry).await {
            metrics::counter!("pleat_audit_failures_total").increment(1);
            let (action, actor) = (entry.action.as_str(), &entry.actor);
            tracing::error!(
                error = &error as &dyn std::error::Error,
                action,
                actor,
                target = entry.target,
                "a row of the audit log could not be written"
            );
        }
    }

    /// The tenant's store, where a change is recorded in its own transaction.
    pub(crate) async fn audited(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        action: AuditAction,
        target: &str,
    ) -> TenantStore {
        self.tenant_store(tenant).audited(self.audit_entry(principal, action, target).await)
    }

    pub(crate) async fn audit_entry(&self, principal: &Principal, action: AuditAction, target: &str) -> AuditEntry {
        let (kind, actor) = match principal {
            Principal::Anonymous => ("anonymous", String::new()),
            Principal::Key { id, .. } => ("key", id.clone()),
            Principal::Operator { id } => ("operator", id.clone()),
            Principal::Token { issuer, subject, .. } => ("token", format!("{issuer}:{subject}")),
        };
        let label = match principal {
            Principal::Key { id, .. } | Principal::Operator { id } => self.label_of_key(id).await,
            Principal::Anonymous | Principal::Token { .. } => String::new(),
        };
        AuditEntry { actor_kind: kind, actor, actor_label: label, ..system_entry(action, target) }
    }

    fn audit_filter(&self, list: &str, query: &AuditQuery) -> Result<AuditFilter, EngineError> {
        let before = query.cursor.as_deref().map(|cursor| self.open_audit_cursor(list, query, cursor)).transpose()?;
        Ok(AuditFilter {
            action: query.action.map(|action| action.as_str().to_owned()),
            actor: query.actor.clone(),
            target: query.target.clone(),
            since: query.since,
            until: query.until,
            before,
            limit: query.limit.clamp(1, MAX_PAGE) + 1,
        })
    }

    /// One more row is read than is shown, to know whether there are more.
    fn audit_page(&self, list: &str, query: &AuditQuery, mut rows: Vec<AuditRow>) -> AuditPage {
        let size = query.limit.clamp(1, MAX_PAGE) as usize;
        let more = rows.len() > size;
        rows.truncate(size);
        let last = rows.last().filter(|_| more);
        let next = last.map(|row| {
            let mut token = position(row.at, row.id);
            let mark = self.inner.pages.mark(&sealed_parts(list, query, &token));
            token.extend_from_slice(&mark);
            URL_SAFE_NO_PAD.encode(token)
        });
        AuditPage { rows, next }
    }

    fn open_audit_cursor(
        &self,
        list: &str,
        query: &AuditQuery,
        cursor: &str,
    ) -> Result<(OffsetDateTime, Uuid), EngineError> {
        let strange = || EngineError::Invalid("`cursor` is not one of this list; begin without one".to_owned());
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| strange())?;
        let (place, mark) = bytes.split_at_checked(24).ok_or_else(strange)?;
        if !self.inner.pages.is_mark(&sealed_parts(list, query, place), mark) {
            return Err(strange());
        }
        let (micros, id) = place.split_first_chunk::<8>().ok_or_else(strange)?;
        let id = Uuid::from_slice(id).map_err(|_| strange())?;
        let nanos = i128::from(i64::from_be_bytes(*micros)) * 1_000;
        let at = OffsetDateTime::from_unix_timestamp_nanos(nanos).map_err(|_| strange())?;
        Ok((at, id))
    }
}

/// A row of the platform's own, such as what a server does at its start.
pub(crate) fn system_entry(action: AuditAction, target: &str) -> AuditEntry {
    AuditEntry {
        actor_kind: "system",
        actor: "bootstrap".to_owned(),
        actor_label: String::new(),
        action,
        target: target.chars().take(200).collect(),
        details: None,
        denied: false,
        client: CLIENT.try_with(Arc::clone).ok(),
    }
}

/// The same entry with what is worth knowing of the change.
pub(crate) fn with_details(entry: AuditEntry, details: Value) -> AuditEntry {
    AuditEntry { details: Some(details), ..entry }
}

/// For a key's row: its scopes by name.
pub(crate) fn scope_names(scopes: pleat_domain::Scopes) -> Vec<&'static str> {
    scopes.iter().map(Scope::as_str).collect()
}

fn position(at: OffsetDateTime, id: Uuid) -> Vec<u8> {
    let micros = i64::try_from(at.unix_timestamp_nanos() / 1_000).unwrap_or(i64::MAX);
    let mut bytes = micros.to_be_bytes().to_vec();
    bytes.extend_from_slice(id.as_bytes());
    bytes
}

fn sealed_parts(list: &str, query: &AuditQuery, place: &[u8]) -> [Vec<u8>; 7] {
    let text = |text: Option<&str>| text.unwrap_or_default().as_bytes().to_vec();
    let time = |time: Option<OffsetDateTime>| {
        time.map(|time| time.unix_timestamp_nanos().to_be_bytes().to_vec()).unwrap_or_default()
    };
    [
        format!("audit/{list}").into_bytes(),
        text(query.action.map(AuditAction::as_str)),
        text(query.actor.as_deref()),
        text(query.target.as_deref()),
        time(query.since),
        time(query.until),
        place.to_vec(),
    ]
}
