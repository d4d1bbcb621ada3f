//! Secrets, settings and the key-value store. Each answers `[value]`, or `[nothing, code, detail]`.

use rquickjs::{Array, Ctx, Function, IntoJs, Object, Result, TypedArray};

use super::text::bytes;
use crate::bindings::pleat::function::config;
use crate::bindings::pleat::function::key_value::{self, KvError};
use crate::bindings::pleat::function::secrets::{self, SecretError};

pub fn add<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("setting", Function::new(ctx.clone(), |name: String| config::get(&name))?)?;
    native.set("secret", Function::new(ctx.clone(), secret)?)?;
    native.set("kvGet", Function::new(ctx.clone(), get)?)?;
    native.set("kvSet", Function::new(ctx.clone(), set)?)?;
    native.set("kvDelete", Function::new(ctx.clone(), delete)?)?;
    native.set("kvIncrement", Function::new(ctx.clone(), increment)?)?;
    native.set("kvList", Function::new(ctx.clone(), list)?)
}

fn secret<'js>(ctx: Ctx<'js>, name: String) -> Result<Array<'js>> {
    match secrets::get(&name) {
        Ok(value) => granted(&ctx, value),
        Err(SecretError::NotGranted) => refused(&ctx, "not_granted", None),
        Err(SecretError::NotFound) => refused(&ctx, "not_found", None),
        Err(SecretError::Unavailable) => refused(&ctx, "unavailable", None),
    }
}

fn get<'js>(ctx: Ctx<'js>, key: String) -> Result<Array<'js>> {
    match key_value::get(&key) {
        Ok(Some(value)) => granted(&ctx, TypedArray::new_copy(ctx.clone(), value)?),
        Ok(None) => granted(&ctx, None::<u32>),
        Err(error) => failed(&ctx, error),
    }
}

fn set<'js>(ctx: Ctx<'js>, key: String, value: TypedArray<'js, u8>, seconds: Option<u32>) -> Result<Array<'js>> {
    match key_value::set(&key, &bytes(&value), seconds) {
        Ok(()) => granted(&ctx, None::<u32>),
        Err(error) => failed(&ctx, error),
    }
}

fn delete<'js>(ctx: Ctx<'js>, key: String) -> Result<Array<'js>> {
    match key_value::delete(&key) {
        Ok(was_there) => granted(&ctx, was_there),
        Err(error) => failed(&ctx, error),
    }
}

/// The step is a safe integer; so is every sum that JavaScript has made.
fn increment<'js>(ctx: Ctx<'js>, key: String, step: f64) -> Result<Array<'js>> {
    match key_value::increment(&key, step as i64) {
        Ok(sum) => granted(&ctx, sum as f64),
        Err(error) => failed(&ctx, error),
    }
}

fn list<'js>(ctx: Ctx<'js>, prefix: String, cursor: Option<String>, limit: u32) -> Result<Array<'js>> {
    match key_value::list_keys(&prefix, cursor.as_deref(), limit) {
        Ok(page) => {
            let found = Array::new(ctx.clone())?;
            found.set(0, page.keys)?;
            found.set(1, page.cursor)?;
            granted(&ctx, found)
        }
        Err(error) => failed(&ctx, error),
    }
}

fn failed<'js>(ctx: &Ctx<'js>, error: KvError) -> Result<Array<'js>> {
    match error {
        KvError::NotGranted => refused(ctx, "not_granted", None),
        KvError::InvalidKey(why) => refused(ctx, "invalid_key", Some(why)),
        KvError::TooLarge => refused(ctx, "too_large", None),
        KvError::QuotaExceeded => refused(ctx, "quota_exceeded", None),
        KvError::NotANumber => refused(ctx, "not_a_number", None),
        KvError::Unavailable => refused(ctx, "unavailable", None),
    }
}

fn granted<'js>(ctx: &Ctx<'js>, value: impl IntoJs<'js>) -> Result<Array<'js>> {
    let answer = Array::new(ctx.clone())?;
    answer.set(0, value)?;
    Ok(answer)
}

fn refused<'js>(ctx: &Ctx<'js>, code: &str, detail: Option<String>) -> Result<Array<'js>> {
    let answer = Array::new(ctx.clone())?;
    answer.set(0, None::<u32>)?;
    answer.set(1, code)?;
    answer.set(2, detail)?;
    Ok(answer)
}
