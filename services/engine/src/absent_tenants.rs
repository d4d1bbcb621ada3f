//! Names that were looked up and belong to no tenant, for a moment: made-up names cost one query each, and no more.

use std::sync::atomic::{AtomicU64, Ordering};

use pleat_domain::TenantSlug;

use crate::engine::STALE;

pub(crate) struct AbsentTenants {
    names: moka::sync::Cache<TenantSlug, ()>,
    /// Tenants that this node was told of. A look-up that began before one came keeps nothing.
    created: AtomicU64,
}

impl AbsentTenants {
    pub(crate) fn new() -> Self {
        let names = moka::sync::Cache::builder().max_capacity(10_000).time_to_live(STALE).build();
        Self { names, created: AtomicU64::new(0) }
    }

    pub(crate) fn has(&self, name: &TenantSlug) -> bool {
        self.names.contains_key(name)
    }

    /// To be asked before the look-up.
    pub(crate) fn created(&self) -> u64 {
        self.created.load(Ordering::SeqCst)
    }

    /// The look-up found nothing; `created` is from before it.
    pub(crate) fn insert(&self, name: &TenantSlug, created: u64) {
        self.names.insert(name.clone(), ());
        if self.created() != created {
            self.names.invalidate(name);
        }
    }

    /// There may be such a tenant now.
    pub(crate) fn forget(&self, name: &TenantSlug) {
        self.created.fetch_add(1, Ordering::SeqCst);
        self.names.invalidate(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_not_kept_when_a_tenant_was_created_during_the_lookup() {
        let (absent, name) = (AbsentTenants::new(), TenantSlug::parse("acme").unwrap());
        let before = absent.created();
        absent.insert(&name, before);
        assert!(absent.has(&name));
        absent.forget(&name);
        assert!(!absent.has(&name));
        absent.insert(&name, before);
        assert!(!absent.has(&name));
    }
}
