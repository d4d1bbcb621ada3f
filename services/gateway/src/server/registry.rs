//! The open connections of a node, counted in all and by client address.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::activity::{Activity, now};
use crate::client_address::AddressBlock;

/// A connection that was accepted just now is not closed for another one: its request may be on its way.
const MIN_IDLE_MS: u64 = 1_000;

pub(super) struct Registry {
    connections: usize,
    per_address: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    open: HashMap<u64, Arc<Activity>>,
    by_address: HashMap<AddressBlock, usize>,
}

/// Which limit refused a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    Node,
    Address,
}

impl Refused {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Node => "server.connections",
            Self::Address => "server.connections_per_address",
        }
    }
}

/// One open connection; the room is free again when this is dropped.
pub(super) struct Permit {
    registry: Arc<Registry>,
    id: u64,
    block: Option<AddressBlock>,
}

impl Registry {
    pub(super) fn new(connections: usize, per_address: usize) -> Arc<Self> {
        Arc::new(Self { connections, per_address, state: Mutex::default() })
    }

    /// `block`: `None` for a trusted proxy, whose connections are other people's.
    pub(super) fn admit(
        self: &Arc<Self>,
        activity: &Arc<Activity>,
        block: Option<AddressBlock>,
    ) -> Result<Permit, Refused> {
        let mut state = self.state();
        if let Some(block) = block {
            state.count(block, self.per_address)?;
        }
        if state.open.len() >= self.connections && !state.evict() {
            if let Some(block) = block {
                state.release(block);
            }
            return Err(Refused::Node);
        }
        state.next += 1;
        let id = state.next;
        state.open.insert(id, Arc::clone(activity));
        drop(state);
        metrics::gauge!("pleat_connections").increment(1.0);
        Ok(Permit { registry: Arc::clone(self), id, block })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn count(&mut self, block: AddressBlock, most: usize) -> Result<(), Refused> {
        let open = self.by_address.entry(block).or_default();
        if *open >= most {
            return Err(Refused::Address);
        }
        *open += 1;
        Ok(())
    }

    fn release(&mut self, block: AddressBlock) {
        if let Some(open) = self.by_address.get_mut(&block) {
            *open = open.saturating_sub(1);
            if *open == 0 {
                self.by_address.remove(&block);
            }
        }
    }

    /// Closes the connection that has been idle for longest; one that never sent a request goes first.
    fn evict(&mut self) -> bool {
        let latest = now().saturating_sub(MIN_IDLE_MS);
        let idle = self.open.iter().filter_map(|(id, activity)| Some((activity.idle()?, *id)));
        let oldest = idle.filter(|((_, since), _)| *since <= latest).min();
        let Some(activity) = oldest.and_then(|(_, id)| self.open.remove(&id)) else { return false };
        metrics::counter!("pleat_connections_closed_total", "reason" => "evicted").increment(1);
        activity.evicted.notify_one();
        true
    }
}

impl Permit {
    /// Counts the connection for the client that a PROXY header names.
    pub(super) fn count_for(&mut self, block: AddressBlock) -> Result<(), Refused> {
        if self.block.is_none() {
            self.registry.state().count(block, self.registry.per_address)?;
            self.block = Some(block);
        }
        Ok(())
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.registry.state();
        state.open.remove(&self.id);
        if let Some(block) = self.block {
            state.release(block);
        }
        drop(state);
        metrics::gauge!("pleat_connections").decrement(1.0);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::time::Duration;

    use super::*;
    use crate::client_address::ClientAddress;

    fn block(last: u8) -> Option<AddressBlock> {
        Some(ClientAddress(IpAddr::from([192, 0, 2, last])).block())
    }

    #[tokio::test]
    async fn connections_of_one_address_are_limited_and_others_are_not() {
        let registry = Registry::new(10, 2);
        let admit = |last| registry.admit(&Activity::new(), block(last));
        let (one, _two) = (admit(1).unwrap(), admit(1).unwrap());
        assert_eq!(admit(1).err(), Some(Refused::Address));
        let _other = admit(2).unwrap();
        drop(one);
        assert!(admit(1).is_ok());
    }

    #[tokio::test]
    async fn connections_through_a_proxy_count_for_the_client_that_it_names() {
        let registry = Registry::new(10, 1);
        let mut proxied = registry.admit(&Activity::new(), None).unwrap();
        let mut second = registry.admit(&Activity::new(), None).unwrap();
        assert_eq!(proxied.count_for(block(1).unwrap()), Ok(()));
        assert_eq!(second.count_for(block(1).unwrap()), Err(Refused::Address));
        drop((proxied, second));
        assert!(registry.admit(&Activity::new(), block(1)).is_ok());
        assert!(registry.state().by_address.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn full_node_closes_the_connection_that_is_idle_for_longest() {
        let registry = Registry::new(3, 10);
        let [busy, served, silent] = [(); 3].map(|()| Activity::new());
        let _permits = [&busy, &served, &silent].map(|activity| registry.admit(activity, block(1)).unwrap());
        let _request = busy.request();
        drop(served.request());
        assert_eq!(registry.admit(&Activity::new(), block(2)).err(), Some(Refused::Node), "all are fresh");
        tokio::time::sleep(Duration::from_secs(2)).await;
        for evicted in [&silent, &served] {
            let activity = Activity::new();
            let request = activity.request();
            std::mem::forget((registry.admit(&activity, block(2)).unwrap(), request));
            tokio::time::timeout(Duration::from_secs(1), evicted.evicted.notified()).await.unwrap();
        }
        assert_eq!(registry.admit(&Activity::new(), block(3)).err(), Some(Refused::Node), "all are busy");
    }
}
