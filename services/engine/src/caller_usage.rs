//! What callers with limits by the day have used: written together with the usage, so that all nodes know it.

use std::sync::Arc;

use pleat_domain::TenantId;
use pleat_store::{CallerUsageRow, StoreError};

use crate::book::{Book, Books, UnwrittenCallers};
use crate::engine::Engine;

impl Engine {
    /// Writes what was counted since the last time, and learns what other nodes have.
    pub(crate) async fn write_callers(&self) -> Result<(), StoreError> {
        let books = &self.inner.books;
        let mut taken = Taken::from(books);
        if taken.0.is_empty() {
            return Ok(());
        }
        let rows = taken.0.iter().flat_map(|(tenant, _, callers)| {
            callers.iter().map(|(caller, day, usage)| CallerUsageRow {
                tenant: *tenant,
                day: *day,
                caller: caller.clone(),
                usage: *usage,
            })
        });
        let sums = self.inner.store.add_caller_usage(rows.collect()).await?;
        taken.0.clear();
        for CallerUsageRow { tenant, day, caller, usage } in sums {
            books.set_caller(tenant, &caller, day, usage);
        }
        Ok(())
    }
}

/// Counts on their way to the database. What does not arrive there goes back into the books.
struct Taken(Vec<(TenantId, Arc<Book>, UnwrittenCallers)>);

impl Taken {
    fn from(books: &Books) -> Self {
        let take = |(tenant, book): (TenantId, Arc<Book>)| {
            let callers = books.take_callers(&book);
            (!callers.is_empty()).then_some((tenant, book, callers))
        };
        Self(books.all().into_iter().filter_map(take).collect())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.drain(..).for_each(|(_, book, callers)| book.put_back_callers(callers));
    }
}
