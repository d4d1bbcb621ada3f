//! Memory for request bodies: a budget of the node and a share of it for each tenant.
//!
//! Bytes are counted as they arrive, not as they are announced, so that a request that is only announced holds nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pleat_domain::TenantId;
use pleat_domain::limits::MIB;

#[derive(Debug, Clone, Copy)]
pub struct BodyLimits {
    pub node: usize,
    /// Of one tenant.
    pub owner: usize,
}

impl Default for BodyLimits {
    fn default() -> Self {
        Self { node: 256 * MIB, owner: 64 * MIB }
    }
}

/// For whom a body's bytes count.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum BodyOwner {
    Tenant(TenantId),
    /// The tenant that a path of the control API names. Its caller is known before the body is read.
    Named(String),
    Platform,
}

impl BodyOwner {
    pub(crate) fn of_control(path: &str) -> Self {
        let rest = path.strip_prefix("/api/v1/tenants/").and_then(|rest| rest.split('/').next());
        rest.filter(|name| !name.is_empty()).map_or(Self::Platform, |name| Self::Named(name.to_owned()))
    }
}

/// Which of the two limits was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    Node,
    Owner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("request bodies of {} hold {most} bytes, which is the most", match .whose { Share::Node => "this node", Share::Owner => "this tenant" })]
pub(crate) struct BodiesFull {
    pub(crate) whose: Share,
    pub(crate) most: usize,
}

pub(crate) struct Bodies {
    limits: BodyLimits,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    held: usize,
    owners: HashMap<BodyOwner, usize>,
}

impl Bodies {
    pub(crate) fn new(limits: BodyLimits) -> Arc<Self> {
        Arc::new(Self { limits, state: Mutex::default() })
    }

    pub(crate) fn held(&self) -> usize {
        self.state().held
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bytes of one body, free again when this is dropped.
pub(crate) struct Reservation {
    bodies: Arc<Bodies>,
    owner: BodyOwner,
    bytes: usize,
}

impl Reservation {
    pub(crate) fn new(bodies: &Arc<Bodies>, owner: BodyOwner) -> Self {
        Self { bodies: Arc::clone(bodies), owner, bytes: 0 }
    }

    pub(crate) fn grow(&mut self, by: usize) -> Result<(), BodiesFull> {
        let BodyLimits { node, owner } = self.bodies.limits;
        let mut state = self.bodies.state();
        let owned = state.owners.get(&self.owner).copied().unwrap_or_default() + by;
        let held = state.held + by;
        if owned > owner {
            return Err(BodiesFull { whose: Share::Owner, most: owner });
        }
        if held > node {
            return Err(BodiesFull { whose: Share::Node, most: node });
        }
        state.held = held;
        match state.owners.get_mut(&self.owner) {
            Some(known) => *known = owned,
            None => drop(state.owners.insert(self.owner.clone(), owned)),
        }
        self.bytes += by;
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut state = self.bodies.state();
        state.held -= self.bytes.min(state.held);
        let left = state.owners.get(&self.owner).copied().unwrap_or_default().saturating_sub(self.bytes);
        if left == 0 {
            state.owners.remove(&self.owner);
        } else if let Some(known) = state.owners.get_mut(&self.owner) {
            *known = left;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_of_one_owner_and_of_the_node_are_limited_and_given_back() {
        let bodies = Bodies::new(BodyLimits { node: 100, owner: 60 });
        let reserve = |name: &str| Reservation::new(&bodies, BodyOwner::Named(name.to_owned()));
        let (mut one, mut two, mut other) = (reserve("a"), reserve("a"), reserve("b"));
        assert_eq!(one.grow(40), Ok(()));
        assert_eq!(two.grow(40), Err(BodiesFull { whose: Share::Owner, most: 60 }));
        assert_eq!(two.grow(20), Ok(()));
        assert_eq!(other.grow(50), Err(BodiesFull { whose: Share::Node, most: 100 }));
        drop(one);
        assert_eq!((other.grow(50), bodies.held()), (Ok(()), 70));
        drop((two, other));
        assert_eq!(bodies.held(), 0);
        assert!(bodies.state().owners.is_empty());
    }

    #[test]
    fn control_request_counts_for_the_tenant_of_its_path() {
        assert_eq!(BodyOwner::of_control("/api/v1/tenants/acme/functions"), BodyOwner::Named("acme".to_owned()));
        for path in ["/api/v1/tenants", "/api/v1/tenants/", "/mcp"] {
            assert_eq!(BodyOwner::of_control(path), BodyOwner::Platform, "{path}");
        }
    }
}
