//! Memory budgets by themselves: tenants, the node, waiting calls, values that are held.

use std::sync::Arc;
use std::time::Duration;

use pleat_runtime::{CallMemory, MemoryBudget, MemoryScope, MemoryUse, TenantMemory};

const NOW: Duration = Duration::ZERO;

async fn call(tenant: &Arc<TenantMemory>, initial: usize) -> Result<Arc<CallMemory>, MemoryScope> {
    tenant.admit(0, initial, NOW, 10).await
}

#[tokio::test]
async fn growth_beyond_the_tenants_budget_is_refused_and_counted() {
    let budget = MemoryBudget::new(1_000);
    let tenant = budget.tenant(1, "one", Some(100));
    let call = call(&tenant, 40).await.unwrap();
    // The memory that the instance begins with is paid.
    assert_eq!((call.charge(40), budget.used().used), (Ok(()), 40));
    assert_eq!((call.charge(60), call.charge(1)), (Ok(()), Err(MemoryScope::Tenant)));
    assert_eq!(budget.used(), MemoryUse { used: 100, limit: 1_000, refused_tenant: 1, refused_node: 0 });
    call.release(60);
    assert_eq!(call.charge(60), Ok(()));
    drop(call);
    assert_eq!((budget.used().used, budget.by_tenant().pop().map_or(0, |(_, used)| used)), (0, 0));
}

#[tokio::test]
async fn last_quarter_of_the_node_is_for_tenants_that_hold_little() {
    let budget = MemoryBudget::new(800);
    let large = budget.tenant(1, "large", None);
    let late = budget.tenant(2, "late", None);
    let held = call(&large, 600).await.unwrap();
    assert_eq!(held.charge(601), Err(MemoryScope::Node));
    let first = call(&late, 100).await.unwrap();
    assert_eq!(first.charge(101), Err(MemoryScope::Node));
    assert_eq!(call(&large, 1).await.err(), Some(MemoryScope::Node));
    assert_eq!(budget.used().refused_node, 3);
}

#[tokio::test]
async fn call_waits_for_memory_that_another_releases() {
    let budget = MemoryBudget::new(1_000);
    let tenant = budget.tenant(1, "one", Some(100));
    let first = call(&tenant, 80).await.unwrap();
    assert_eq!(call(&tenant, 80).await.err(), Some(MemoryScope::Tenant));
    let second = tenant.admit(0, 80, Duration::from_secs(10), 10);
    let release = async {
        tokio::task::yield_now().await;
        drop(first);
    };
    let (second, ()) = tokio::join!(second, release);
    assert!(second.is_ok());
}

#[tokio::test]
async fn call_that_could_never_fit_and_call_beyond_the_queue_do_not_wait() {
    let budget = MemoryBudget::new(1_000);
    let tenant = budget.tenant(1, "one", Some(100));
    let long = Duration::from_secs(3_600);
    assert_eq!(tenant.admit(0, 101, long, 10).await.err(), Some(MemoryScope::Tenant));
    assert_eq!(tenant.admit(101, 0, long, 10).await.err(), Some(MemoryScope::Tenant));
    let _first = call(&tenant, 100).await.unwrap();
    assert_eq!(tenant.admit(0, 1, long, 0).await.err(), Some(MemoryScope::Tenant));
    assert_eq!(budget.used().used, 100);
}

#[tokio::test]
async fn held_values_are_charged_until_they_are_dropped() {
    let budget = MemoryBudget::new(1_000);
    let tenant = budget.tenant(1, "one", Some(100));
    let call = call(&tenant, 10).await.unwrap();
    let value = call.hold(90).unwrap();
    assert_eq!(call.hold(1).err(), Some(MemoryScope::Tenant));
    // What is there already is counted beyond the limit.
    let written = tenant.hold(50);
    assert_eq!(budget.used().used, 150);
    drop((value, written, call));
    assert_eq!(budget.used().used, 0);
}
