//! The store of a load: what it may use, and how the snapshot reads the state out of it afterwards.

use wasmtime::component::{ComponentNamedList, Instance, Lift, WasmList};
use wasmtime::{ResourceLimiter, Store};
use wasmtime_wizer::ComponentInstanceState;

/// The memory of a load, over all memories together.
pub(super) struct Usage {
    used: usize,
    most: usize,
    refused: bool,
}

impl Usage {
    pub(super) fn new(most: usize) -> Self {
        Self { used: 0, most, refused: false }
    }

    pub(super) fn was_refused(&self) -> bool {
        self.refused
    }

    /// No limit from here on.
    pub(super) fn lift(&mut self) {
        self.most = usize::MAX;
    }
}

impl ResourceLimiter for Usage {
    fn memory_growing(&mut self, current: usize, desired: usize, _most: Option<usize>) -> wasmtime::Result<bool> {
        let used = self.used.saturating_add(desired.saturating_sub(current));
        if used > self.most {
            self.refused = true;
            return Ok(false);
        }
        self.used = used;
        Ok(true)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _most: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= pleat_domain::limits::TABLE_ELEMENTS)
    }
}

/// Reads globals and memories through the accessors that the instrumentation added. The trait has no errors: the
/// first one is kept, and makes the whole snapshot fail.
pub(super) struct Access<'a> {
    store: &'a mut Store<Usage>,
    instance: Instance,
    failure: Option<wasmtime::Error>,
}

impl<'a> Access<'a> {
    pub(super) fn new(store: &'a mut Store<Usage>, instance: Instance) -> Self {
        Self { store, instance, failure: None }
    }

    pub(super) fn into_failure(self) -> Option<wasmtime::Error> {
        self.failure
    }

    fn call<T>(&mut self, instance: &str, function: &str) -> Option<T>
    where
        (T,): ComponentNamedList + Lift + 'static,
    {
        match self.try_call(instance, function) {
            Ok((value,)) => Some(value),
            Err(error) => {
                self.failure.get_or_insert(error);
                None
            }
        }
    }

    fn try_call<R: ComponentNamedList + Lift + 'static>(
        &mut self,
        instance: &str,
        function: &str,
    ) -> wasmtime::Result<R> {
        let missing = || wasmtime::format_err!("the instrumented engine lacks `{instance}#{function}`");
        let (_, exported) = self.instance.get_export(&mut *self.store, None, instance).ok_or_else(missing)?;
        let (_, function) =
            self.instance.get_export(&mut *self.store, Some(&exported), function).ok_or_else(missing)?;
        let function = self.instance.get_typed_func::<(), R>(&mut *self.store, function)?;
        function.call(&mut *self.store, ())
    }
}

impl ComponentInstanceState for Access<'_> {
    async fn call_func_ret_list_u8(&mut self, instance: &str, function: &str, contents: impl FnOnce(&[u8]) + Send) {
        match self.call::<WasmList<u8>>(instance, function) {
            Some(list) => contents(list.as_le_slice(&*self.store)),
            None => contents(&[]),
        }
    }

    async fn call_func_ret_s32(&mut self, instance: &str, function: &str) -> i32 {
        self.call(instance, function).unwrap_or_default()
    }

    async fn call_func_ret_s64(&mut self, instance: &str, function: &str) -> i64 {
        self.call(instance, function).unwrap_or_default()
    }

    async fn call_func_ret_f32(&mut self, instance: &str, function: &str) -> u32 {
        self.call::<f32>(instance, function).unwrap_or_default().to_bits()
    }

    async fn call_func_ret_f64(&mut self, instance: &str, function: &str) -> u64 {
        self.call::<f64>(instance, function).unwrap_or_default().to_bits()
    }
}
