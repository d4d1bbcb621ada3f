//! Loads a script and runs it: at deploy `load`, after the snapshot one of the other entries.
//!
//! A call pays for every page that it writes, so the way of a plain call is short: no lookup by name, and no code of ours
//! in JavaScript before the author's function or after it.

use std::cell::OnceCell;

use rquickjs::function::IntoArgs;
use rquickjs::{Array, Context as Realm, Ctx, Function, Module, Object, Persistent, Runtime, Value};

use crate::bindings::pleat::function::types::{Context, Error, Outcome};
use crate::modules::Files;
use crate::settle::{Settled, settle};
use crate::{allocator, excerpt, native, outcome, prelude, random};

/// How deep JavaScript may recurse, in bytes of the stack in linear memory (of which there is 1 MiB). A frame takes up
/// to 5.3 times as much of the native stack, which the host limits: this suits a host that gives 4 MiB, so that an
/// author gets a RangeError with a line where the host would otherwise trap.
const STACK_BYTES: usize = 768 * 1024;
/// Garbage that a call may make before the collector runs: most calls end before.
const GARBAGE_BYTES: usize = 4 * 1024 * 1024;

thread_local! {
    static ENGINE: OnceCell<&'static Engine> = const { OnceCell::new() };
}

pub struct Engine {
    realm: Realm,
    /// The entries of the JavaScript half.
    entries: Persistent<Object<'static>>,
    /// What a call begins with: the author's function and its `ctx`.
    start: OnceCell<(Persistent<Function<'static>>, Persistent<Object<'static>>)>,
}

pub fn load(files: Vec<(String, String)>) -> Result<(), String> {
    if ENGINE.with(|cell| cell.get().is_some()) {
        return Err("a file is loaded already".to_owned());
    }
    let Some((file_name, _)) = files.first().cloned() else { return Err("there is no file".to_owned()) };
    let without_mark = |text: String| text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    let files = Files::new(files.into_iter().map(|(path, text)| (path, without_mark(text))).collect());
    allocator::begin_prelude();
    let engine = Engine::new().map_err(|reason| format!("the script engine did not start: {reason}"))?;
    // Never dropped, also when loading fails: values inside outlive the runtime's own teardown.
    let engine: &'static Engine = Box::leak(Box::new(engine));
    allocator::begin_file();
    // Settings of the runtime belong outside of `with`, which holds its lock.
    let runtime = engine.realm.runtime();
    runtime.set_loader(files.clone(), files.clone());
    engine.realm.with(|ctx| engine.load(&ctx, &files, &file_name))?;
    runtime.run_gc();
    runtime.set_gc_threshold(usize::try_from(runtime.memory_usage().malloc_size).unwrap_or(0) + GARBAGE_BYTES);
    random::forget();
    allocator::begin_calls();
    ENGINE.with(|cell| cell.set(engine)).map_err(|_| "a file is loaded already".to_owned())
}

pub fn describe() -> Result<String, Error> {
    run(|engine, ctx| {
        let value = engine.call(ctx, "manifest", ());
        engine.finish(ctx, value, None, |value| value.get())
    })
}

pub fn handle(input: String, context: Context) -> Result<Outcome, Error> {
    native::set_context(context);
    run(|engine, ctx| {
        let started = ctx.json_parse(input).and_then(|input| engine.start(ctx, input));
        engine.finish(ctx, started, Some("finish"), outcome::outcome)
    })
}

pub fn read_resource(uri: &str, context: Context) -> Result<String, Error> {
    native::set_context(context);
    run(|engine, ctx| {
        let started = engine.call(ctx, "readResource", (uri,));
        engine.finish(ctx, started, Some("finishJson"), |value| value.get())
    })
}

pub fn get_prompt(name: &str, arguments: String, context: Context) -> Result<String, Error> {
    native::set_context(context);
    run(|engine, ctx| {
        let started = ctx.json_parse(arguments).and_then(|values| engine.call(ctx, "getPrompt", (name, values)));
        engine.finish(ctx, started, Some("finishJson"), |value| value.get())
    })
}

fn run<T>(body: impl FnOnce(&'static Engine, &Ctx<'_>) -> Result<T, Error>) -> Result<T, Error> {
    let Some(engine) = ENGINE.with(|cell| cell.get().copied()) else {
        return Err(outcome::fault("not_loaded", "no script is loaded"));
    };
    engine.realm.with(|ctx| body(engine, &ctx))
}

impl Engine {
    fn new() -> Result<Self, String> {
        let runtime = Runtime::new_with_alloc(allocator::Script).map_err(|error| error.to_string())?;
        runtime.set_max_stack_size(STACK_BYTES);
        let realm = Realm::full(&runtime).map_err(|error| error.to_string())?;
        let entries = realm.with(|ctx| match prelude::entries(&ctx) {
            Ok(entries) => Ok(Persistent::save(&ctx, entries)),
            Err(error) => Err(rquickjs::CaughtError::from_error(&ctx, error).to_string()),
        })?;
        let tracked = entries.clone();
        runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, is_handled| {
            let entries = tracked.clone().restore(&ctx);
            let rejection = entries.and_then(|entries| entries.get::<_, Function<'_>>("rejection"));
            // A rejection that cannot be noted is only not reported.
            let _ = rejection.and_then(|rejection| rejection.call::<_, ()>((promise, reason, is_handled)));
        })));
        Ok(Self { realm, entries, start: OnceCell::new() })
    }

    fn load<'js>(&self, ctx: &Ctx<'js>, files: &Files, file_name: &str) -> Result<(), String> {
        let fail = |thrown: Value<'js>| self.explain(ctx, files, file_name, thrown);
        let source = files.text(file_name).unwrap_or_default();
        if let Some(path) = files.with_nul() {
            return Err(format!("{path}: the file contains a NUL byte; is it text?"));
        }
        self.call::<Value<'_>, _>(ctx, "begin", (file_name,)).map_err(|_| fail(ctx.catch()))?;
        let evaluated = Module::declare(ctx.clone(), file_name, source).and_then(Module::eval);
        let (module, promise) = evaluated.map_err(|_| fail(ctx.catch()))?;
        match settle(ctx, Ok(promise.into_value()), || Ok(false)) {
            Settled::Value(_) => {}
            Settled::Thrown(thrown) => return Err(fail(thrown)),
            Settled::Never => {
                return Err(format!("{file_name}: the top level waits for a promise that can never settle"));
            }
        }
        let adopted = module.namespace().and_then(|namespace| self.call::<Value<'js>, _>(ctx, "adopt", (namespace,)));
        let adopted = adopted.map_err(|_| fail(ctx.catch()))?;
        if let Some(reason) = adopted.as_string() {
            return Err(reason.to_string().unwrap_or_default());
        }
        let start: rquickjs::Result<(Function<'js>, Object<'js>)> =
            Array::from_value(adopted).and_then(|pair| Ok((pair.get(0)?, pair.get(1)?)));
        let (handler, context) = start.map_err(|_| fail(ctx.catch()))?;
        let _ = self.start.set((Persistent::save(ctx, handler), Persistent::save(ctx, context)));
        Ok(())
    }

    /// An error of the top level as text for the author.
    fn explain<'js>(&self, ctx: &Ctx<'js>, files: &Files, file_name: &str, thrown: Value<'js>) -> String {
        let parts: rquickjs::Result<Vec<String>> = self.call(ctx, "loadFault", (thrown,));
        match parts.as_deref() {
            Ok([message, frames]) => excerpt::explain(files, file_name, message, frames),
            _ => format!("{file_name}: the top level threw something that cannot be described"),
        }
    }

    /// Calls the author's function.
    fn start<'js>(&self, ctx: &Ctx<'js>, input: Value<'js>) -> rquickjs::Result<Value<'js>> {
        let Some((handler, context)) = self.start.get() else { return Err(rquickjs::Error::Unknown) };
        let value: Value<'js> = handler.clone().restore(ctx)?.call((input, context.clone().restore(ctx)?))?;
        match value.as_object() {
            Some(object) if !value.is_promise() && object.get::<_, Value<'js>>("then")?.is_function() => {
                self.call(ctx, "promised", (value,))
            }
            _ => Ok(value),
        }
    }

    fn call<'js, T, A>(&self, ctx: &Ctx<'js>, entry: &str, arguments: A) -> rquickjs::Result<T>
    where
        T: rquickjs::FromJs<'js>,
        A: IntoArgs<'js>,
    {
        let entries = self.entries.clone().restore(ctx)?;
        entries.get::<_, Function<'js>>(entry)?.call(arguments)
    }

    /// Runs the event loop until what was started has settled, then converts it through the entry `with` (if any).
    fn finish<'js, T>(
        &self,
        ctx: &Ctx<'js>,
        started: rquickjs::Result<Value<'js>>,
        with: Option<&str>,
        convert: impl FnOnce(&Value<'js>) -> rquickjs::Result<T>,
    ) -> Result<T, Error> {
        let promise = started.as_ref().ok().filter(|value| value.is_promise()).cloned();
        let value = match settle(ctx, started, || self.call(ctx, "turn", ())) {
            Settled::Value(value) => self.finished(ctx, value, &promise, with).map_err(|_| ctx.catch()),
            Settled::Thrown(thrown) => Err(thrown),
            Settled::Never => return Err(never_settled()),
        };
        match value {
            Ok(value) => convert(&value).map_err(|_| outcome::indescribable(ctx)),
            Err(thrown) => {
                let fields: rquickjs::Result<Array<'js>> = self.call(ctx, "fault", (thrown, promise));
                let error = fields.and_then(|fields| outcome::error(&fields));
                Err(error.unwrap_or_else(|_| outcome::indescribable(ctx)))
            }
        }
    }

    /// A result in the form that `convert` takes: as JSON text, if it is plain data.
    fn finished<'js>(
        &self,
        ctx: &Ctx<'js>,
        value: Value<'js>,
        promise: &Option<Value<'js>>,
        with: Option<&str>,
    ) -> rquickjs::Result<Value<'js>> {
        let Some(with) = with else { return Ok(value) };
        if !native::must_look_closer() && !value.is_undefined() {
            match ctx.json_stringify(value.clone()) {
                Ok(Some(text)) => return Ok(text.into_value()),
                Ok(None) => {}
                // The entry will find it again, and has words for it.
                Err(_) => drop(ctx.catch()),
            }
        }
        self.call(ctx, with, (value, promise.clone()))
    }
}

fn never_settled() -> Error {
    let message = "the function waits for something that never comes: its promise is pending, and no timer, request or \
                   call is left that could settle it";
    outcome::fault("never_settled", message)
}
