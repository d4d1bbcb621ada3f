//! Sets of keys that issuers serve at a URL: fetched through the guard, kept, and fetched again when they are old or a
//! key is asked for that they lack, but not more often than an issuer can be asked to bear.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pleat_domain::{JsonFault, Tenant, TenantId, json};
use pleat_egress::{BadConfig, Egress, EgressConfig, EgressError, HostGrants, OutboundRequest};
use pleat_store::IssuerRecord;

use super::key_set::{BadKeySet, KeySet, VerifyingKey};

const MOST_BYTES: usize = 100_000;
const PATIENCE: Duration = Duration::from_secs(5);

/// When sets of keys are fetched.
#[derive(Debug, Clone, Copy)]
pub struct KeySetTimes {
    /// Not again within this time, whatever keys are asked for.
    pub pause: Duration,
    /// Again after this time.
    pub age: Duration,
}

impl Default for KeySetTimes {
    fn default() -> Self {
        Self { pause: Duration::from_secs(60), age: Duration::from_secs(600) }
    }
}

/// Why a set of keys could not be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error(transparent)]
    Egress(#[from] EgressError),
    #[error("the answer has the status {0}")]
    Status(u16),
    #[error(transparent)]
    Json(#[from] JsonFault),
    #[error(transparent)]
    Keys(#[from] BadKeySet),
}

pub(crate) struct RemoteKeys {
    egress: Egress,
    times: KeySetTimes,
    sets: moka::sync::Cache<(TenantId, String), Arc<RemoteSet>>,
}

pub(crate) struct RemoteSet {
    url: String,
    age: Duration,
    current: Mutex<Option<(KeySet, Instant)>>,
    /// When it was last tried. Held while it is, so that one request does it for all that wait.
    tried: tokio::sync::Mutex<Option<Instant>>,
}

pub(crate) struct Found {
    pub(crate) key: Arc<VerifyingKey>,
    pub(crate) is_old: bool,
}

impl RemoteKeys {
    pub(crate) fn new(egress: &EgressConfig, times: KeySetTimes) -> Result<Self, BadConfig> {
        // Keys that come over plain HTTP are anybody's, even where functions may use it; what the operator names
        // stays allowed.
        let config =
            EgressConfig { plain_http: false, total_timeout: PATIENCE, response_bytes: MOST_BYTES, ..egress.clone() };
        Ok(Self { egress: Egress::new(config)?, times, sets: moka::sync::Cache::new(10_000) })
    }

    pub(crate) fn forget(&self, tenant: TenantId, issuer: &str) {
        self.sets.invalidate(&(tenant, issuer.to_owned()));
    }

    /// The set of an issuer whose keys are at a URL.
    pub(crate) fn of(&self, tenant: &Tenant, issuer: &IssuerRecord) -> Option<Arc<RemoteSet>> {
        let url = issuer.jwks_url.clone()?;
        let fresh = || {
            Arc::new(RemoteSet {
                url,
                age: self.times.age,
                current: Mutex::default(),
                tried: tokio::sync::Mutex::default(),
            })
        };
        Some(self.sets.get_with((tenant.id, issuer.id.clone()), fresh))
    }

    /// Whether it is time, and nobody is at it.
    pub(crate) fn is_due(&self, set: &RemoteSet) -> bool {
        set.tried.try_lock().is_ok_and(|tried| tried.is_none_or(|at| at.elapsed() >= self.times.pause))
    }

    /// Fetches the set unless that was tried just now. One that cannot be fetched stays as it was.
    pub(crate) async fn refresh(&self, set: &RemoteSet, tenant: &Tenant) {
        let mut tried = set.tried.lock().await;
        if tried.is_some_and(|at| at.elapsed() < self.times.pause) {
            return;
        }
        match self.fetch(tenant, &set.url).await {
            Ok(keys) => *set.current.lock().unwrap_or_else(PoisonError::into_inner) = Some((keys, Instant::now())),
            Err(error) => tracing::warn!(
                tenant.id = %tenant.slug,
                url = set.url,
                error = &error as &dyn std::error::Error,
                "the keys of a token issuer could not be fetched; those that are known stay"
            ),
        }
        *tried = Some(Instant::now());
    }

    pub(crate) async fn fetch(&self, tenant: &Tenant, url: &str) -> Result<KeySet, FetchError> {
        let response = self.egress.send(OutboundRequest::get(url), &HostGrants::any(), tenant.slug.as_str()).await?;
        if response.status != 200 {
            return Err(FetchError::Status(response.status));
        }
        json::check(&response.body)?;
        Ok(KeySet::parse(&response.body)?)
    }
}

impl RemoteSet {
    pub(crate) fn get(&self, id: &str) -> Option<Found> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let (keys, fetched) = current.as_ref()?;
        Some(Found { key: keys.get(id)?, is_old: fetched.elapsed() >= self.age })
    }
}
