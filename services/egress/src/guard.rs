//! The guard: which URLs may be asked for, and which addresses dialled.
//!
//! A URL passes [`Guard::admit`] before every request and every redirect; an address passes [`Guard::dial`] before
//! every connection, literal addresses included, for which no resolver is ever asked.

use std::net::IpAddr;

use url::{Host, Url};

use crate::config::EgressConfig;
use crate::error::{BadConfig, EgressError};
use crate::host::{self, HostGrants, HostName, HostPattern, Written};
use crate::rule::AllowRule;

const URL_BYTES: usize = 8 << 10;

pub(crate) struct Guard {
    allow: Vec<AllowRule>,
    only: Vec<HostPattern>,
    own: Vec<OwnHost>,
    plain_http: bool,
    ports: Vec<u16>,
}

/// Where a connection would lead.
pub(crate) struct Target<'a> {
    pub(crate) host: &'a Host<String>,
    pub(crate) port: u16,
    pub(crate) secure: bool,
}

impl Guard {
    pub(crate) fn new(config: &EgressConfig) -> Result<Self, BadConfig> {
        Ok(Self {
            allow: config.allow.clone(),
            only: config.only.clone(),
            own: config.own_hosts.iter().map(|text| OwnHost::parse(text)).collect::<Result<_, _>>()?,
            plain_http: config.plain_http,
            ports: config.ports.clone(),
        })
    }

    /// The URL in its one spelling, if it may be asked for.
    pub(crate) fn parse(&self, text: &str, grants: &HostGrants) -> Result<Url, EgressError> {
        if text.len() > URL_BYTES {
            return Err(EgressError::InvalidRequest(format!("a URL has at most {URL_BYTES} bytes")));
        }
        let url =
            Url::parse(text).map_err(|error| EgressError::InvalidRequest(format!("the URL is not valid: {error}")))?;
        self.admit(url, grants)
    }

    /// The same for a URL that was parsed already: where a redirect leads.
    pub(crate) fn admit(&self, mut url: Url, grants: &HostGrants) -> Result<Url, EgressError> {
        let invalid = |text: &str| EgressError::InvalidRequest(text.to_owned());
        if !matches!(url.scheme(), "http" | "https") {
            return Err(invalid("only `https://` URLs can be fetched"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("a URL must not carry a user name or password; send an `authorization` header"));
        }
        let host = url.host().map(|host| host.to_owned()).and_then(host::plain);
        let host = host.ok_or_else(|| invalid("the host of the URL is not valid"))?;
        let port = url.port_or_known_default().ok_or_else(|| invalid("the URL has no port"))?;
        url.set_host(Some(&host.to_string())).map_err(|_| invalid("the host of the URL is not valid"))?;
        url.set_fragment(None);
        if self.own.iter().any(|own| own.matches(&host, port)) {
            return Err(EgressError::DeniedAddress);
        }
        let reachable = self.only.is_empty() || self.only.iter().any(|pattern| pattern.matches(&host, port));
        if !reachable || !grants.cover(&host, port) {
            return Err(EgressError::NotGranted(host.to_string()));
        }
        if let Some(address) = literal(&host) {
            self.dial(&Target { host: &host, port, secure: url.scheme() == "https" }, address)?;
        }
        Ok(url)
    }

    /// Whether this address may be dialled for this target.
    pub(crate) fn dial(&self, target: &Target<'_>, address: IpAddr) -> Result<(), EgressError> {
        let Target { host, port, secure } = *target;
        let address = address.to_canonical();
        if self.own.iter().any(|own| own.is_at(address, port)) {
            return Err(EgressError::DeniedAddress);
        }
        if self.allow.iter().any(|rule| rule.covers(host, address, port, &self.ports)) {
            return Ok(());
        }
        if !crate::is_public(address) {
            return Err(EgressError::DeniedAddress);
        }
        if !self.ports.contains(&port) {
            let ports = self.ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
            return Err(EgressError::InvalidRequest(format!("port {port} cannot be used; use one of {ports}")));
        }
        if !secure && !self.plain_http {
            return Err(EgressError::InvalidRequest("`http://` is not allowed here; use `https://`".to_owned()));
        }
        Ok(())
    }
}

pub(crate) fn literal(host: &Host<String>) -> Option<IpAddr> {
    match host {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some((*address).into()),
        Host::Ipv6(address) => Some((*address).into()),
    }
}

/// A name of the platform, with all below it: its tenants' sites.
struct OwnHost {
    itself: HostPattern,
    below: Option<HostPattern>,
    address: Option<IpAddr>,
    port: Option<u16>,
}

impl OwnHost {
    fn parse(text: &str) -> Result<Self, BadConfig> {
        let written = Written::parse(text)?;
        let address = match HostName::parse(&written) {
            Some(HostName::Exact(host)) => literal(&host),
            _ => None,
        };
        let below = if address.is_none() { Some(format!("*.{text}").parse()?) } else { None };
        let port = written.port.and_then(|port| port.parse().ok());
        Ok(Self { itself: text.parse()?, below, address, port })
    }

    fn matches(&self, host: &Host<String>, port: u16) -> bool {
        self.itself.matches(host, port) || self.below.as_ref().is_some_and(|below| below.matches(host, port))
    }

    fn is_at(&self, address: IpAddr, port: u16) -> bool {
        self.address == Some(address) && self.port.is_none_or(|own| own == port)
    }
}
