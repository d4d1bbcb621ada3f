//! URLs by the standard, for URL and URLSearchParams.

use rquickjs::{Ctx, Function, Object, Result};
use url::{Url, form_urlencoded, quirks};

pub fn add<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("urlParse", Function::new(ctx.clone(), parse)?)?;
    native.set("urlSet", Function::new(ctx.clone(), set)?)?;
    native.set("formDecode", Function::new(ctx.clone(), form_decode)?)?;
    native.set("formEncode", Function::new(ctx.clone(), form_encode)?)
}

/// The parts of a URL in the order of `PARTS` in the JavaScript half.
fn parts(url: &Url) -> Vec<String> {
    let origin = quirks::origin(url);
    [
        quirks::href(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
        &origin,
    ]
    .map(str::to_owned)
    .to_vec()
}

fn parse(input: String, base: Option<String>) -> Option<Vec<String>> {
    let base = match base {
        Some(base) => Some(Url::parse(&base).ok()?),
        None => None,
    };
    let url = Url::options().base_url(base.as_ref()).parse(&input).ok()?;
    Some(parts(&url))
}

/// Nothing if the new value does not fit; the URL stays as it was then.
fn set(href: String, name: String, value: String) -> Option<Vec<String>> {
    let mut url = Url::parse(&href).ok()?;
    let done = match name.as_str() {
        "href" => quirks::set_href(&mut url, &value).is_ok(),
        "protocol" => quirks::set_protocol(&mut url, &value).is_ok(),
        "username" => quirks::set_username(&mut url, &value).is_ok(),
        "password" => quirks::set_password(&mut url, &value).is_ok(),
        "host" => quirks::set_host(&mut url, &value).is_ok(),
        "hostname" => quirks::set_hostname(&mut url, &value).is_ok(),
        "port" => quirks::set_port(&mut url, &value).is_ok(),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            true
        }
        "search" => {
            quirks::set_search(&mut url, &value);
            true
        }
        _ => {
            quirks::set_hash(&mut url, &value);
            true
        }
    };
    done.then(|| parts(&url))
}

/// Names and values in turn.
fn form_decode(query: String) -> Vec<String> {
    form_urlencoded::parse(query.as_bytes()).flat_map(|(name, value)| [name.into_owned(), value.into_owned()]).collect()
}

fn form_encode(flat: Vec<String>) -> String {
    let mut serializer = form_urlencoded::Serializer::new(String::new());
    let mut rest = flat.as_slice();
    while let [name, value, after @ ..] = rest {
        serializer.append_pair(name, value);
        rest = after;
    }
    serializer.finish()
}
