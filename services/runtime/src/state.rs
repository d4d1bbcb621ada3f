//! What a store carries for one call: WASI with nothing granted, the budgets, and the way out.

use std::sync::Arc;

use pleat_domain::{CallLimits, LogLevel, limits};
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;
use wasmtime::ResourceLimiter;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use crate::clock::{CoarseMonotonic, CoarseWall};
use crate::host_calls::{HostCalls, Work};
use crate::logbook::Logbook;
use crate::machine;
use crate::memory::{CallMemory, MemoryScope};
use crate::stdio::Stdio;
use crate::traffic::{Overdrawn, Traffic};

/// Streams, pollables and pending calls that a guest may hold at once.
const HANDLES: usize = 1_000;

pub(crate) struct State {
    table: ResourceTable,
    /// Made when the guest first asks for something of it, which many never do.
    wasi: Option<WasiCtx>,
    pub(crate) budget: Budget,
    pub(crate) events: Events,
    pub(crate) host: Box<dyn HostCalls>,
    pub(crate) stdio: Stdio,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) memory: Arc<CallMemory>,
    /// Calls and requests that were started and not dropped yet.
    pub(crate) pending: usize,
    /// The threads that do input and output; guests have none of their own.
    pub(crate) io: Handle,
    logbook: Logbook,
}

impl State {
    pub(crate) fn new(limits: &CallLimits, host: Box<dyn HostCalls>, memory: Arc<CallMemory>, io: Handle) -> Self {
        let stdio = Stdio::new(limits);
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES);
        Self {
            table,
            wasi: None,
            budget: Budget::new(limits.memory_bytes, Arc::clone(&memory)),
            events: Events { left: limits.events, bytes: limits.event_bytes, refused: 0 },
            host,
            stdio,
            traffic: Arc::new(Traffic::new(limits)),
            memory,
            pending: 0,
            io,
            logbook: Logbook::new(limits),
        }
    }

    pub(crate) fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }

    /// To be called first by whatever uses the platform: counts the call and what it carries.
    pub(crate) fn cross(&mut self, bytes: usize) -> Result<(), Overdrawn> {
        self.take_printed();
        self.traffic.cross(bytes)
    }

    /// Runs work on the threads that do input and output; it ends when nobody waits for it any more. `None`: those
    /// threads are ending.
    pub(crate) fn done<T: Send + 'static>(&self, work: Work<T>) -> impl Future<Output = Option<T>> + Send + use<T> {
        let work = AbortOnDropHandle::new(self.io.spawn(work));
        async move { work.await.ok() }
    }

    pub(crate) fn log(&mut self, level: LogLevel, message: &str) {
        self.take_printed();
        self.admit(level, message);
    }

    /// Takes what was printed into the log; called often, so that nothing waits long.
    pub(crate) fn take_printed(&mut self) {
        let Some(written) = self.stdio.take_lines() else { return };
        for (level, line) in written.lines {
            self.admit(level, &String::from_utf8_lossy(&line));
        }
        if written.overflowed
            && let Some(note) = self.logbook.close()
        {
            self.host.log(LogLevel::Warn, note);
        }
    }

    /// The last of the printed lines, when the guest has ended.
    pub(crate) fn finish(&mut self) {
        self.stdio.finish();
        self.take_printed();
    }

    fn admit(&mut self, level: LogLevel, message: &str) {
        if let Some(line) = self.logbook.admit(message) {
            self.host.log(level, line);
        }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let ctx = self.wasi.get_or_insert_with(|| wasi(&self.stdio));
        WasiCtxView { ctx, table: &mut self.table }
    }
}

/// Nothing is granted.
fn wasi(stdio: &Stdio) -> WasiCtx {
    WasiCtxBuilder::new()
        .stdout(stdio.output())
        .stderr(stdio.error())
        .wall_clock(CoarseWall)
        .monotonic_clock(CoarseMonotonic::new())
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .build()
}

/// Chunks and progress together: each is an event of the task.
pub(crate) struct Events {
    pub(crate) left: usize,
    pub(crate) bytes: usize,
    /// Emits that came after the last allowed one.
    pub(crate) refused: usize,
}

/// Why a guest was refused memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryRefusal {
    /// The call's own limit.
    Call,
    /// A budget that the call shares with others.
    Shared(MemoryScope),
}

/// Memories and tables of one call, all taken together (wasmtime's own limits count each one apart), and why memory was
/// refused last: running out of memory has no trap code of its own. Charged to the tenant and the node until this is
/// dropped.
pub(crate) struct Budget {
    shared: Arc<CallMemory>,
    memory_most: usize,
    memory: usize,
    memory_asked: usize,
    pub(crate) memory_peak: usize,
    pub(crate) memory_refused: Option<MemoryRefusal>,
    table_elements: usize,
    elements_asked: usize,
    pub(crate) table_refused: bool,
}

impl Budget {
    fn new(memory_most: usize, shared: Arc<CallMemory>) -> Self {
        Self {
            shared,
            memory_most,
            memory: 0,
            memory_asked: 0,
            memory_peak: 0,
            memory_refused: None,
            table_elements: 0,
            elements_asked: 0,
            table_refused: false,
        }
    }
}

impl ResourceLimiter for Budget {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let asked = desired.saturating_sub(current);
        let total = self.memory.saturating_add(asked);
        // A refusal answers -1 to the guest, which may cope: an interpreter raises its own error.
        let refusal = match total > self.memory_most {
            true => Some(MemoryRefusal::Call),
            false => self.shared.charge(asked).err().map(MemoryRefusal::Shared),
        };
        if refusal.is_some() {
            self.memory_refused = refusal;
            self.memory_asked = 0;
            return Ok(false);
        }
        self.memory_asked = asked;
        self.memory = total;
        self.memory_peak = self.memory_peak.max(total);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        let asked = std::mem::take(&mut self.memory_asked);
        self.memory = self.memory.saturating_sub(asked);
        self.shared.release(asked);
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let asked = desired.saturating_sub(current);
        let total = self.table_elements.saturating_add(asked);
        if total > limits::TABLE_ELEMENTS {
            self.table_refused = true;
            self.elements_asked = 0;
            return Ok(false);
        }
        self.elements_asked = asked;
        self.table_elements = total;
        Ok(true)
    }

    fn table_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.table_elements = self.table_elements.saturating_sub(std::mem::take(&mut self.elements_asked));
        Ok(())
    }

    fn instances(&self) -> usize {
        machine::CORE_INSTANCES as usize
    }

    fn tables(&self) -> usize {
        machine::TABLES as usize
    }

    fn memories(&self) -> usize {
        machine::MEMORIES as usize
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        self.shared.release(self.memory);
    }
}
