//! HTTP to a Pleat server: URLs, the key, and the server's errors turned into ours. Knows no command.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::problem::{Problem, Refusal};
use crate::target::Target;
use crate::wire::Wire;

const AGENT: &str = concat!("pleat/", env!("CARGO_PKG_VERSION"));
const CONNECT: Duration = Duration::from_secs(5);
/// Nothing on the control API takes long, but a server may be busy.
const CONTROL: Duration = Duration::from_secs(120);

pub struct Client {
    http: reqwest::Client,
    target: Target,
    tenant: OnceCell<String>,
}

impl Client {
    pub fn new(target: Target) -> Result<Self> {
        let mut builder = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(AGENT);
        // A proxy for the wide world must not be asked for this machine.
        if is_local(&target.url) {
            builder = builder.no_proxy();
        }
        let tenant = OnceCell::new_with(target.tenant.clone());
        Ok(Self { http: builder.build()?, target, tenant })
    }

    pub fn has_key(&self) -> bool {
        self.target.key.is_some()
    }

    /// Where the key was found, when it was not given.
    pub fn key_file(&self) -> Option<&Path> {
        self.target.key_file.as_deref()
    }

    /// `{url}/api/v1/…`
    pub fn control(&self, path: &[&str]) -> Url {
        self.join(&["api", "v1"], path)
    }

    /// `{url}/api/v1/tenants/{tenant}/…`
    pub async fn in_tenant(&self, path: &[&str]) -> Result<Url> {
        let tenant = self.tenant().await?;
        Ok(self.join(&["api", "v1", "tenants", tenant], path))
    }

    /// `{url}/t/{tenant}/…`: the path form of a tenant's origin, which works with every host name.
    pub async fn door(&self, path: &[&str]) -> Result<Url> {
        let tenant = self.tenant().await?;
        Ok(self.join(&["t", tenant], path))
    }

    /// `{url}/…`: beside the control API.
    pub fn beside(&self, path: &[&str]) -> Url {
        self.join(&[], path)
    }

    fn join(&self, base: &[&str], path: &[&str]) -> Url {
        let mut url = self.target.url.clone();
        // Only a URL without a host has no segments, and `target` lets none pass.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(base).extend(path);
        }
        url
    }

    /// The tenant that was named, or else the key's own.
    async fn tenant(&self) -> Result<&str> {
        let ask = async || {
            if !self.has_key() {
                let message = "no tenant is named, and without a key the server cannot tell";
                return Err(Problem::usage(message, "pass --tenant (PLEAT_TENANT) or --key (PLEAT_KEY)").into());
            }
            let answer = self.get(self.control(&["whoami"])).await?;
            let tenant = answer.get("tenant").and_then(Value::as_str).map(str::to_owned);
            tenant.ok_or_else(|| -> anyhow::Error {
                Problem::usage("this key belongs to no tenant", "name one with --tenant (PLEAT_TENANT)").into()
            })
        };
        Ok(self.tenant.get_or_try_init(ask).await?.as_str())
    }

    pub async fn get(&self, url: Url) -> Result<Value> {
        self.answer(self.request(Method::GET, url)).await
    }

    pub async fn post(&self, url: Url, body: &Value) -> Result<Value> {
        self.answer(self.request(Method::POST, url).json(body)).await
    }

    pub async fn put(&self, url: Url, body: &Value) -> Result<Value> {
        self.answer(self.request(Method::PUT, url).json(body)).await
    }

    /// JSON exactly as it was written, so that what is said of its places is true.
    pub async fn send_text(&self, method: Method, url: Url, text: String) -> Result<Value> {
        self.answer(self.request(method, url).header(CONTENT_TYPE, "application/json").body(text)).await
    }

    pub async fn delete(&self, url: Url) -> Result<Value> {
        self.answer(self.request(Method::DELETE, url)).await
    }

    /// A request with the key.
    pub fn request(&self, method: Method, url: Url) -> RequestBuilder {
        let request = self.http.request(method, url);
        let bearer = self.target.key.as_ref().and_then(|key| HeaderValue::from_str(&format!("Bearer {key}")).ok());
        match bearer {
            Some(mut bearer) => {
                bearer.set_sensitive(true);
                request.header(AUTHORIZATION, bearer)
            }
            None => request,
        }
    }

    /// Sends and gives the JSON of a good answer; `null` where there is no body.
    pub async fn answer(&self, request: RequestBuilder) -> Result<Value> {
        self.answer_within(request, CONTROL).await
    }

    /// The same, for what takes longer.
    pub async fn answer_within(&self, request: RequestBuilder, patience: Duration) -> Result<Value> {
        let response = self.send(request.timeout(patience)).await?;
        let body = checked(response).await?;
        if body.is_empty() {
            return Ok(Value::Null);
        }
        Ok(serde_json::from_str(&body).map_err(|source| Problem::Odd { url: self.url(), source })?)
    }

    /// Sends, whatever the status of the answer.
    pub async fn send(&self, request: RequestBuilder) -> Result<Response> {
        Ok(request.send().await.map_err(|error| self.broken(error))?)
    }

    /// The same, with both sides of it shown if that is wished for.
    pub async fn send_shown(&self, request: RequestBuilder, wire: Option<&Wire<'_>>) -> Result<Response> {
        let Some(wire) = wire else { return self.send(request).await };
        let request = request.build()?;
        wire.request(&request, AGENT);
        let response = self.http.execute(request).await.map_err(|error| self.broken(error))?;
        wire.response(&response);
        Ok(response)
    }

    /// A failure on the way, in our words.
    pub fn broken(&self, error: reqwest::Error) -> Problem {
        if error.is_timeout() && !error.is_connect() {
            return Problem::TimedOut { url: self.url() };
        }
        Problem::Unreachable { url: self.url(), source: error.without_url() }
    }

    pub fn url(&self) -> String {
        self.target.url.as_str().trim_end_matches('/').to_owned()
    }
}

/// The body of a good answer, or the server's refusal.
pub async fn checked(response: Response) -> Result<String> {
    if response.status().is_success() {
        return Ok(response.text().await?);
    }
    Err(Problem::Refused(Box::new(refusal(response).await)).into())
}

/// Reads `{"error": {"code", "message", "hint"}, "taskId", "reason"}`, or makes the best of something else.
pub async fn refusal(response: Response) -> Refusal {
    refusal_shown(response, None).await
}

/// The same, with the body shown if that is wished for.
pub async fn refusal_shown(response: Response, wire: Option<&Wire<'_>>) -> Refusal {
    Unread::of(response, wire).await.refusal()
}

/// A refusal before anything is made of it.
pub struct Unread {
    status: StatusCode,
    retry: Option<String>,
    pub body: String,
}

impl Unread {
    pub async fn of(response: Response, wire: Option<&Wire<'_>>) -> Self {
        let status = response.status();
        let retry = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = response.text().await.unwrap_or_default();
        if let Some(wire) = wire {
            wire.answer(&body);
        }
        Self { status, retry, body }
    }

    pub fn refusal(self) -> Refusal {
        let Self { status, retry, body } = self;
        let answer: Value = serde_json::from_str(&body).unwrap_or_default();
        let text = |name: &str| {
            let inner = answer.get("error").and_then(|error| error.get(name)).or_else(|| answer.get(name));
            inner.and_then(Value::as_str).map(str::to_owned)
        };
        let plain = || {
            let excerpt: String = body.trim().chars().take(200).collect();
            if excerpt.is_empty() { format!("the server answered {status}") } else { format!("{status}: {excerpt}") }
        };
        Refusal {
            status: status.as_u16(),
            code: text("code").unwrap_or_else(|| format!("http_{}", status.as_u16())),
            message: text("message").unwrap_or_else(plain),
            hint: text("hint").or_else(|| retry.map(|seconds| format!("try again in {seconds} s"))),
            task: text("taskId"),
            reason: text("reason"),
            stack: answer.pointer("/error/details/detail").and_then(Value::as_str).map(str::to_owned),
        }
    }
}

fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|address| address.is_loopback())
}
