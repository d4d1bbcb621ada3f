//! The one way to a socket: resolve once, check every address, dial what was checked.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::Service;
use url::{Host, Url};

use crate::error::EgressError;
use crate::guard::{Guard, Target, literal};
use crate::resolve::Resolver;

/// More addresses than this under one name are not tried.
const MOST_ADDRESSES: usize = 16;

#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) guard: Arc<Guard>,
    pub(crate) resolver: Resolver,
    pub(crate) timeout: Duration,
}

impl Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = EgressError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, EgressError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), EgressError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move {
            let connected = tokio::time::timeout(connector.timeout, connector.connect(&uri)).await;
            connected.map_err(|_| EgressError::Timeout)?.map(TokioIo::new)
        })
    }
}

impl Connector {
    async fn connect(&self, uri: &Uri) -> Result<TcpStream, EgressError> {
        let invalid = || EgressError::InvalidRequest("the host of the URL is not valid".to_owned());
        let host = Host::parse(uri.host().ok_or_else(invalid)?).map_err(|_| invalid())?;
        let secure = uri.scheme() == Some(&http::uri::Scheme::HTTPS);
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let addresses = self.addresses(&host).await?;
        // One address that must not be reached spoils the name: a mixed answer is how a guard that looks at the first
        // address is led around.
        for address in &addresses {
            self.guard.dial(&Target { host: &host, port, secure }, *address)?;
        }
        for address in addresses.into_iter().take(MOST_ADDRESSES) {
            if let Ok(stream) = TcpStream::connect(SocketAddr::new(address, port)).await {
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
        }
        Err(EgressError::Failed(format!("`{host}` could not be connected to on port {port}")))
    }

    /// Every address of the URL's host, as if it were to be dialled.
    pub(crate) async fn check(&self, url: &Url) -> Result<(), EgressError> {
        let invalid = || EgressError::InvalidRequest("the host of the URL is not valid".to_owned());
        let host = url.host().ok_or_else(invalid)?.to_owned();
        let (port, secure) = (url.port_or_known_default().ok_or_else(invalid)?, url.scheme() == "https");
        for address in self.addresses(&host).await? {
            self.guard.dial(&Target { host: &host, port, secure }, address)?;
        }
        Ok(())
    }

    async fn addresses(&self, host: &Host<String>) -> Result<Vec<IpAddr>, EgressError> {
        if let Some(address) = literal(host) {
            return Ok(vec![address]);
        }
        let name = host.to_string();
        match self.resolver.resolve(&name).await {
            Ok(addresses) if !addresses.is_empty() => Ok(addresses),
            _ => Err(EgressError::Failed(format!("the name `{name}` does not resolve"))),
        }
    }
}
