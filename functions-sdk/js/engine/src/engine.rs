//! Loads one script and runs it: at deploy `load`, after the snapshot one of the other entries.

use std::cell::OnceCell;

use rquickjs::function::IntoArgs;
use rquickjs::promise::PromiseState;
use rquickjs::{Array, Context as Realm, Ctx, Function, Module, Object, Persistent, Runtime, Value};

use crate::bindings::pleat::function::types::{Context, Error, Outcome};
use crate::{excerpt, imports, native, outcome, random};

const INSPECT: &str = include_str!("prelude/inspect.js");
const ENTRY: &str = include_str!("prelude/entry.js");
/// Frames of files that are called so are hidden from authors.
const PRELUDE_NAME: &str = "pleat:engine";

/// How deep JavaScript may recurse, in bytes of the stack in linear memory (of which there is 1 MiB). A frame takes up
/// to 5.3 times as much of the native stack, which the host limits: this suits a host that gives 4 MiB, so that an
/// author gets a RangeError with a line where the host would otherwise trap.
const STACK_BYTES: usize = 768 * 1024;
/// Garbage that a call may make before the collector runs: most calls end before.
const GARBAGE_BYTES: usize = 4 * 1024 * 1024;

thread_local! {
    static ENGINE: OnceCell<&'static Engine> = const { OnceCell::new() };
}

struct Engine {
    realm: Realm,
    /// The entries of the JavaScript half.
    entries: Persistent<Object<'static>>,
}

/// What became of a call into the script.
enum Settled<'js> {
    Value(Value<'js>),
    Thrown(Value<'js>),
    Never,
}

pub fn load(source: String, file_name: &str) -> Result<(), String> {
    if ENGINE.with(|cell| cell.get().is_some()) {
        return Err("a file is loaded already".to_owned());
    }
    let source = source.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(source);
    let engine = Engine::new().map_err(|reason| format!("the script engine did not start: {reason}"))?;
    // Never dropped, also when loading fails: values inside outlive the runtime's own teardown.
    let engine: &'static Engine = Box::leak(Box::new(engine));
    // Settings of the runtime belong outside of `with`, which holds its lock.
    let runtime = engine.realm.runtime();
    runtime.set_loader(imports::Refuse::new(file_name, &source), imports::NoModules);
    engine.realm.with(|ctx| engine.load(&ctx, &source, file_name))?;
    runtime.run_gc();
    runtime.set_gc_threshold(usize::try_from(runtime.memory_usage().malloc_size).unwrap_or(0) + GARBAGE_BYTES);
    random::forget();
    ENGINE.with(|cell| cell.set(engine)).map_err(|_| "a file is loaded already".to_owned())
}

pub fn describe() -> Result<String, Error> {
    run(|engine, ctx| {
        let value = engine.call(ctx, "manifest", ());
        engine.finish(ctx, value, "", |value| value.get())
    })
}

pub fn handle(input: String, context: Context) -> Result<Outcome, Error> {
    native::set_context(context);
    run(|engine, ctx| {
        let started = ctx.json_parse(input).and_then(|input| engine.call(ctx, "handle", (input,)));
        engine.finish(ctx, started, "finish", outcome::outcome)
    })
}

pub fn read_resource(uri: &str, context: Context) -> Result<String, Error> {
    native::set_context(context);
    run(|engine, ctx| {
        let started = engine.call(ctx, "readResource", (uri,));
        engine.finish(ctx, started, "finishJson", |value| value.get())
    })
}

pub fn get_prompt(name: &str, arguments: String, context: Context) -> Result<String, Error> {
    native::set_context(context);
    run(|engine, ctx| {
        let started = ctx.json_parse(arguments).and_then(|values| engine.call(ctx, "getPrompt", (name, values)));
        engine.finish(ctx, started, "finishJson", |value| value.get())
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
        let runtime = Runtime::new().map_err(|error| error.to_string())?;
        runtime.set_max_stack_size(STACK_BYTES);
        let realm = Realm::full(&runtime).map_err(|error| error.to_string())?;
        let entries = realm.with(|ctx| match prelude(&ctx) {
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
        Ok(Self { realm, entries })
    }

    fn load<'js>(&self, ctx: &Ctx<'js>, source: &str, file_name: &str) -> Result<(), String> {
        let fail = |thrown: Value<'js>| self.explain(ctx, source, file_name, thrown);
        if source.contains('\0') {
            return Err(format!("{file_name}: the file contains a NUL byte; is it JavaScript text?"));
        }
        self.call::<Value<'_>, _>(ctx, "begin", (file_name,)).map_err(|_| fail(ctx.catch()))?;
        let evaluated = Module::declare(ctx.clone(), file_name, source).and_then(Module::eval);
        let (module, promise) = evaluated.map_err(|_| fail(ctx.catch()))?;
        match self.settle(ctx, Ok(promise.into_value())) {
            Settled::Value(_) => {}
            Settled::Thrown(thrown) => return Err(fail(thrown)),
            Settled::Never => {
                return Err(format!("{file_name}: the top level waits for a promise that can never settle"));
            }
        }
        let adopted = module.namespace().and_then(|namespace| self.call(ctx, "adopt", (namespace,)));
        match adopted {
            Ok(None) => Ok(()),
            Ok(Some(reason)) => Err(reason),
            Err(_) => Err(fail(ctx.catch())),
        }
    }

    /// An error of the top level as text for the author.
    fn explain<'js>(&self, ctx: &Ctx<'js>, source: &str, file_name: &str, thrown: Value<'js>) -> String {
        let parts: rquickjs::Result<Vec<String>> = self.call(ctx, "loadFault", (thrown,));
        match parts.as_deref() {
            Ok([message, frames]) => excerpt::explain(file_name, source, message, frames),
            _ => format!("{file_name}: the top level threw something that cannot be described"),
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

    /// Runs jobs until what was started has settled, then converts it through the entry `with` (if any).
    fn finish<'js, T>(
        &self,
        ctx: &Ctx<'js>,
        started: rquickjs::Result<Value<'js>>,
        with: &str,
        convert: impl FnOnce(&Value<'js>) -> rquickjs::Result<T>,
    ) -> Result<T, Error> {
        let promise = started.as_ref().ok().filter(|value| value.is_promise()).cloned();
        let value = match self.settle(ctx, started) {
            Settled::Value(value) if with.is_empty() => Ok(value),
            Settled::Value(value) => self.call(ctx, with, (value, promise.clone())).map_err(|_| ctx.catch()),
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

    fn settle<'js>(&self, ctx: &Ctx<'js>, started: rquickjs::Result<Value<'js>>) -> Settled<'js> {
        let value = match started {
            Ok(value) => value,
            Err(_) => return Settled::Thrown(ctx.catch()),
        };
        let Some(promise) = value.as_promise() else { return Settled::Value(value) };
        while promise.state() == PromiseState::Pending {
            if !ctx.execute_pending_job() {
                return Settled::Never;
            }
        }
        match promise.result::<Value<'js>>() {
            Some(Ok(value)) => Settled::Value(value),
            _ => Settled::Thrown(ctx.catch()),
        }
    }
}

fn prelude<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    let helpers: Object<'js> = evaluate(ctx, INSPECT)?.call(())?;
    evaluate(ctx, ENTRY)?.call((native::object(ctx)?, helpers))
}

fn evaluate<'js>(ctx: &Ctx<'js>, source: &str) -> rquickjs::Result<Function<'js>> {
    let mut options = rquickjs::context::EvalOptions::default();
    options.filename = Some(PRELUDE_NAME.to_owned());
    ctx.eval_with_options(source, options)
}

fn never_settled() -> Error {
    let message =
        "the function waits for a promise that can never settle: nothing is left to run that could resolve it";
    outcome::fault("never_settled", message)
}
