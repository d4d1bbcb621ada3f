//! What the JavaScript half reaches of the host: thin functions over the imports. Meaning is given to them there.

mod capabilities;
mod crypto;
mod text;
mod url;

pub use text::bytes;

use std::cell::{Cell, RefCell};

use rquickjs::{Ctx, Function, Object, Result};

use crate::bindings::pleat::function::types::Context;
use crate::bindings::pleat::function::{conversation, log, output};
use crate::{pending, random};

thread_local! {
    static CONTEXT: RefCell<Option<Context>> = const { RefCell::new(None) };
    static LOOK_CLOSER: Cell<bool> = const { Cell::new(false) };
}

/// Keeps what is known of the call for the script to ask for.
pub fn set_context(context: Context) {
    CONTEXT.set(Some(context));
}

/// Something happened that only the JavaScript half can judge: an explicit outcome was made, a rejection was noted.
pub fn must_look_closer() -> bool {
    LOOK_CLOSER.get()
}

pub fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    native.set("write", Function::new(ctx.clone(), write)?)?;
    native.set("emit", Function::new(ctx.clone(), emit)?)?;
    native.set("progress", Function::new(ctx.clone(), output_progress)?)?;
    native.set("field", Function::new(ctx.clone(), field)?)?;
    native.set("count", Function::new(ctx.clone(), count)?)?;
    native.set("message", Function::new(ctx.clone(), conversation::message)?)?;
    native.set("history", Function::new(ctx.clone(), conversation::history)?)?;
    native.set("state", Function::new(ctx.clone(), conversation::state)?)?;
    native.set("reply", Function::new(ctx.clone(), conversation::reply)?)?;
    native.set("random", Function::new(ctx.clone(), random::next)?.with_name("random")?)?;
    native.set("lookCloser", Function::new(ctx.clone(), || LOOK_CLOSER.set(true))?)?;
    pending::add(ctx, &native)?;
    capabilities::add(ctx, &native)?;
    crypto::add(ctx, &native)?;
    text::add(ctx, &native)?;
    url::add(ctx, &native)?;
    Ok(native)
}

fn write(level: u32, message: String) {
    let level = match level {
        0 => log::Level::Trace,
        1 => log::Level::Debug,
        2 => log::Level::Info,
        3 => log::Level::Warn,
        _ => log::Level::Error,
    };
    log::write(level, &message);
}

/// Nothing, or why it was refused as `[code, text]`.
fn emit(kind: u32, body: String, artifact: Option<String>, last: bool) -> Option<Vec<String>> {
    let chunk = match kind {
        0 => output::Chunk::Text(body),
        1 => output::Chunk::Data(body),
        _ => output::Chunk::Blocks(body),
    };
    let (code, text) = match output::emit(&chunk, artifact.as_deref(), last).err()? {
        output::EmitError::TooLarge => ("too_large", String::new()),
        output::EmitError::TooMany => ("too_many", String::new()),
        output::EmitError::Invalid(why) => ("invalid", why),
    };
    Some(vec![code.to_owned(), text])
}

fn output_progress(done: f64, total: Option<f64>, note: Option<String>) {
    output::progress(done, total, note.as_deref());
}

fn field(index: u32) -> Option<String> {
    CONTEXT.with_borrow(|context| {
        let context = context.as_ref()?;
        let text = match index {
            0 => &context.task_id,
            1 => &context.context_id,
            2 => &context.skill,
            3 => &context.version,
            4 => &context.caller,
            _ => &context.door,
        };
        Some(text.clone())
    })
}

fn count(index: u32) -> Option<u32> {
    CONTEXT.with_borrow(|context| {
        let context = context.as_ref()?;
        Some(if index == 0 { context.attempt } else { context.turn })
    })
}
