//! The JavaScript half: its files, in the order in which they build on each other.

use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Function, Object, Result, Value};

use crate::native;

/// Frames of files that are called so are hidden from authors.
const NAME: &str = "pleat:engine";

const FILES: [&str; 16] = [
    include_str!("prelude/kit.js"),
    include_str!("prelude/inspect.js"),
    include_str!("prelude/log.js"),
    include_str!("prelude/timers.js"),
    include_str!("prelude/events.js"),
    include_str!("prelude/encoding.js"),
    include_str!("prelude/url.js"),
    include_str!("prelude/clone.js"),
    include_str!("prelude/crypto.js"),
    include_str!("prelude/headers.js"),
    include_str!("prelude/fetch.js"),
    include_str!("prelude/outcome.js"),
    include_str!("prelude/capabilities.js"),
    include_str!("prelude/context.js"),
    include_str!("prelude/faults.js"),
    include_str!("prelude/entry.js"),
];

/// Runs the files. The last one gives the entries.
pub fn entries<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let kit = Object::new(ctx.clone())?;
    kit.set("native", native::object(ctx)?)?;
    let mut last = Value::new_undefined(ctx.clone());
    for source in FILES {
        let mut options = EvalOptions::default();
        options.filename = Some(NAME.to_owned());
        let file: Function<'js> = ctx.eval_with_options(source, options)?;
        last = file.call((kit.clone(),))?;
    }
    last.get()
}
