//! The way out, as the operator wants it: from texts to the rules of `pleat_egress`.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use pleat_domain::limits::MIB;
use pleat_egress::{BadHost, EgressConfig};

use super::settings::Settings;
use crate::problem::Problem;

impl Settings {
    /// Closed to the node's own address and names.
    pub fn egress(&self, listen: SocketAddr) -> Result<EgressConfig, Problem> {
        let egress = &self.egress;
        Ok(EgressConfig {
            allow: rules("egress.allow", &egress.allow)?,
            only: rules("egress.only", &egress.only)?,
            plain_http: egress.plain_http,
            ports: egress.ports.clone(),
            own_hosts: self.own_hosts(listen),
            extra_roots: egress.roots.iter().map(|path| certificates(path)).collect::<Result<_, _>>()?,
            connect_timeout: Duration::from_secs(egress.connect_seconds),
            total_timeout: Duration::from_secs(egress.total_seconds),
            request_bytes: egress.request_mib.saturating_mul(MIB),
            response_bytes: egress.response_mib.saturating_mul(MIB),
            redirects: egress.redirects,
            per_tenant_concurrency: egress.per_tenant_concurrency,
            ..EgressConfig::default()
        })
    }

    fn own_hosts(&self, listen: SocketAddr) -> Vec<String> {
        let mut own = self.server.hosts.clone();
        let port = listen.port();
        if port != 0 {
            own.extend([format!("127.0.0.1:{port}"), format!("[::1]:{port}"), format!("localhost:{port}")]);
        }
        // Other services of this machine go by the name `localhost` too.
        if self.server.base_domain != "localhost" {
            own.push(self.server.base_domain.clone());
        }
        own
    }
}

fn rules<T: FromStr<Err = BadHost>>(key: &str, texts: &[String]) -> Result<Vec<T>, Problem> {
    let hint = "see docs/egress.md: `git.internal:3000`, `10.1.0.0/16`, `127.0.0.1:*`, `*.example.com`";
    let parse = |text: &String| text.parse::<T>().map_err(|fault| Problem::usage(format!("`{key}`: {fault}"), hint));
    texts.iter().map(parse).collect()
}

fn certificates(path: &str) -> Result<String, Problem> {
    std::fs::read_to_string(path).map_err(|source| Problem::Unreadable { path: path.into(), source })
}
