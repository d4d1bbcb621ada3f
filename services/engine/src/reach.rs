//! How far a running function reaches: what it was granted, and whose name it acts in. Everything that a guest wants
//! of the platform beyond speaking is allowed or refused here.

mod outbound;

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::FutureExt;
use pleat_domain::{Principal, Raw, Task, Tenant, limits};
use pleat_runtime::{
    CallError, HttpError, HttpRequest, HttpResponse, KeyPage, KvError, SecretError, Unavailable, Work,
};
use pleat_store::{StoreError, TenantStore};

use crate::calling::Errand;
use crate::catalog::Skill;
use crate::engine::Engine;

/// How long an operation on values waits for its turn at the database.
const TURN: Duration = Duration::from_secs(10);

/// In whose name a call is made, and how many calls it is away from the door.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    pub(crate) principal: Principal,
    pub(crate) depth: u32,
}

pub(crate) struct Reach {
    pub(crate) engine: Engine,
    pub(crate) tenant: Arc<Tenant>,
    pub(crate) skill: Arc<Skill>,
    pub(crate) standing: Arc<Standing>,
    pub(crate) task: Arc<Task>,
}

impl Reach {
    pub(crate) fn config(&self, name: String) -> Work<Result<Option<String>, Unavailable>> {
        if !self.skill.grants.config.contains(&name) {
            return std::future::ready(Ok(None)).boxed();
        }
        let (engine, tenant) = (self.engine.clone(), Arc::clone(&self.tenant));
        let work = async move {
            engine.setting_value(&tenant, &name).await.map_err(|error| {
                tracing::warn!(error = &error as &dyn std::error::Error, "a setting could not be read");
                Unavailable
            })
        };
        work.boxed()
    }

    pub(crate) fn secret(&self, name: String) -> Work<Result<String, SecretError>> {
        if !self.skill.grants.secrets.contains(&name) {
            return std::future::ready(Err(SecretError::NotGranted)).boxed();
        }
        let (engine, tenant) = (self.engine.clone(), Arc::clone(&self.tenant));
        let work = async move {
            match engine.secret_value(&tenant, &name).await {
                Ok(Some(value)) => Ok(value.as_str().to_owned()),
                Ok(None) => Err(SecretError::NotFound),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a secret could not be read");
                    Err(SecretError::Unavailable)
                }
            }
        };
        work.boxed()
    }

    pub(crate) fn value(&self, key: String) -> Work<Result<Option<Vec<u8>>, KvError>> {
        self.kept(|store| async move { store.value(&key).await })
    }

    pub(crate) fn set_value(&self, key: String, value: Vec<u8>, ttl: Option<u32>) -> Work<Result<(), KvError>> {
        self.kept(move |store| async move { store.set_value(&key, &value, ttl).await })
    }

    pub(crate) fn delete_value(&self, key: String) -> Work<Result<bool, KvError>> {
        self.kept(|store| async move { store.delete_value(&key).await })
    }

    pub(crate) fn increment(&self, key: String, delta: i64) -> Work<Result<i64, KvError>> {
        self.kept(move |store| async move { store.increment_value(&key, delta).await })
    }

    pub(crate) fn list_keys(&self, prefix: String, cursor: Option<&str>, limit: u32) -> Work<Result<KeyPage, KvError>> {
        let Ok(above) = cursor.map(place_of).transpose() else {
            let fault = KvError::InvalidKey("the cursor is not one that a list has given out".to_owned());
            return std::future::ready(Err(fault)).boxed();
        };
        self.kept(move |store| async move {
            let page = store.keys(&prefix, above.as_deref(), limit).await?;
            let last = page.keys.last().filter(|_| page.more);
            Ok::<_, StoreError>(KeyPage { cursor: last.map(|key| URL_SAFE_NO_PAD.encode(key)), keys: page.keys })
        })
    }

    pub(crate) fn call(&self, skill: String, input: Raw) -> Result<Work<Result<Raw, CallError>>, CallError> {
        if !self.skill.grants.skills.contains(&skill) {
            return Err(CallError::NotGranted);
        }
        let standing = Standing { depth: self.standing.depth + 1, ..(*self.standing).clone() };
        if standing.depth > limits::CALL_DEPTH {
            return Err(CallError::TooDeep);
        }
        let errand = Errand {
            tenant: Arc::clone(&self.tenant),
            standing,
            parent: self.task.id,
            step: self.task.step.clone(),
            context: self.task.context.clone(),
            skill,
            input,
        };
        let engine = self.engine.clone();
        Ok(async move { engine.run_errand(errand).await }.boxed())
    }

    /// The guard decides about hosts and addresses, for the request and for each redirect.
    pub(crate) fn http(&self, request: HttpRequest) -> Work<Result<HttpResponse, HttpError>> {
        let (engine, tenant, skill) = (self.engine.clone(), Arc::clone(&self.tenant), Arc::clone(&self.skill));
        let work = async move {
            let sent = engine.egress().send(outbound::request(request), &skill.hosts, tenant.slug.as_str()).await;
            sent.map(outbound::response).map_err(outbound::refusal)
        };
        work.boxed()
    }

    /// An operation on the tenant's values, if they were granted.
    fn kept<T: Send + 'static, W>(&self, operation: impl FnOnce(TenantStore) -> W) -> Work<Result<T, KvError>>
    where
        W: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        if !self.skill.grants.key_value {
            return std::future::ready(Err(KvError::NotGranted)).boxed();
        }
        let (turns, tenant) = (Arc::clone(&self.engine.inner.turns), self.tenant.id);
        let work = operation(self.engine.tenant_store(&self.tenant));
        let in_turn = async move {
            let _turn = turns.take(tenant, 1, 100, TURN).await.map_err(|_| KvError::Unavailable)?;
            work.await.map_err(refusal)
        };
        in_turn.boxed()
    }
}

fn refusal(error: StoreError) -> KvError {
    match error {
        StoreError::ShareUsedUp => KvError::QuotaExceeded,
        StoreError::NotANumber => KvError::NotANumber,
        error => {
            tracing::warn!(error = &error as &dyn std::error::Error, "a key-value operation failed");
            KvError::Unavailable
        }
    }
}

/// The key that a cursor stands behind.
fn place_of(cursor: &str) -> Result<String, ()> {
    let key = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| ())?;
    String::from_utf8(key).ok().filter(|key| key.len() <= limits::KEY_VALUE_KEY && !key.contains('\0')).ok_or(())
}
