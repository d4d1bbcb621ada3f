//! Random bytes, digests and HMAC.

use hmac::{Hmac, KeyInit, Mac};
use rquickjs::{Ctx, Exception, Function, Object, Result, TypedArray};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::text::bytes;

pub fn add<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("randomBytes", Function::new(ctx.clone(), random_bytes)?)?;
    native.set("digest", Function::new(ctx.clone(), digest)?)?;
    native.set("hmac", Function::new(ctx.clone(), hmac)?)
}

fn random_bytes<'js>(ctx: Ctx<'js>, count: usize) -> Result<TypedArray<'js, u8>> {
    let mut random = vec![0; count];
    if getrandom::fill(&mut random).is_err() {
        return Err(Exception::throw_message(&ctx, "the platform has no random bytes just now"));
    }
    TypedArray::new_copy(ctx, random)
}

fn digest<'js>(ctx: Ctx<'js>, hash: String, data: TypedArray<'js, u8>) -> Result<TypedArray<'js, u8>> {
    let data = bytes(&data);
    let digest = match hash.as_str() {
        "SHA-1" => Sha1::digest(data).to_vec(),
        "SHA-256" => Sha256::digest(data).to_vec(),
        "SHA-384" => Sha384::digest(data).to_vec(),
        _ => Sha512::digest(data).to_vec(),
    };
    TypedArray::new_copy(ctx, digest)
}

fn hmac<'js>(
    ctx: Ctx<'js>,
    hash: String,
    key: TypedArray<'js, u8>,
    data: TypedArray<'js, u8>,
) -> Result<TypedArray<'js, u8>> {
    let (key, data) = (bytes(&key), bytes(&data));
    let code = match hash.as_str() {
        "SHA-1" => authenticate::<Hmac<Sha1>>(&key, &data),
        "SHA-256" => authenticate::<Hmac<Sha256>>(&key, &data),
        "SHA-384" => authenticate::<Hmac<Sha384>>(&key, &data),
        _ => authenticate::<Hmac<Sha512>>(&key, &data),
    };
    TypedArray::new_copy(ctx, code)
}

/// HMAC takes keys of any length.
fn authenticate<M: Mac + KeyInit>(key: &[u8], data: &[u8]) -> Vec<u8> {
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else { return Vec::new() };
    mac.update(data);
    mac.finalize().into_bytes().to_vec()
}
