//! The noisy neighbour: what a quiet tenant's callers feel of another tenant's spinning guests.

use std::sync::Arc;

use anyhow::Context as _;
use bytes::Bytes;
use pleat_domain::{Door, PlanName, Principal, TenantSlug, json};
use pleat_engine::{Engine, EventStream, Invocation, Upload};

use crate::http::Connection;
use crate::load::{self, Plan};
use crate::options::Options;
use crate::platform::{Platform, echo};
use crate::stats::Series;
use crate::table::{Demand, Row, say};

/// Few: the quiet tenant does not fill the machine by itself.
const CONNECTIONS: usize = 4;
const SPINNERS: usize = 100;
const SCRIPT: &str = "export const description = 'never ends'; export const limits = { cpuMs: 30000 };\n\
                      export default function () { for (;;) {} }\n";

pub async fn measure(platform: &Platform, options: &Options) -> anyhow::Result<Vec<Row>> {
    say("a noisy neighbour");
    let mut connection = Connection::open(platform.address).await?;
    platform.deploy(&mut connection, "quiet", "echo.wasm", &echo()?).await?;
    let request = platform.call("quiet", r#"{"text":"hello"}"#);
    let plan = Plan {
        address: platform.address,
        connections: CONNECTIONS,
        warm_up: options.warm_up(),
        lasting: options.round(),
    };
    let [mut alone, mut beside, mut p50, mut p99] = [(); 4].map(|()| Series::default());
    for round in 0..options.rounds() {
        let quiet = load::run(&plan, &request).await?;
        let noise = Noise::start(platform.engine(), round).await?;
        let noisy = load::run(&plan, &request).await?;
        noise.stop(platform.engine()).await?;
        alone.push(quiet.p99 / 1e3);
        beside.push(noisy.p99 / 1e3);
        p50.push(noisy.p50 / quiet.p50);
        p99.push(noisy.p99 / quiet.p99);
    }
    Ok(vec![
        Row::shown("noisy.alone", format!("{CONNECTIONS} callers of a quiet tenant, p99"), "ms", alone),
        Row::shown("noisy.beside", format!("the same beside {SPINNERS} spinning guests of another, p99"), "ms", beside),
        Row::shown("noisy.p50", "p50 beside them against p50 alone", "×", p50),
        Row::shown("noisy.p99", "p99 beside them against p99 alone", "×", p99).demanded(Demand::AtMost(1.5)),
    ])
}

/// A tenant with nothing but spinning guests.
struct Noise {
    slug: TenantSlug,
    _streams: Vec<EventStream>,
}

impl Noise {
    async fn start(engine: &Engine, round: u32) -> anyhow::Result<Self> {
        let slug = TenantSlug::parse(&format!("noisy-{round}"))?;
        engine.create_tenant(&operator(), &slug, &PlanName::standard()).await?;
        let tenant = engine.tenant(&slug).await?;
        let upload = Upload {
            file_name: "spin.js".to_owned(),
            bytes: Bytes::from_static(SCRIPT.as_bytes()),
            name: None,
            visibility: Some(pleat_domain::Visibility::Public),
            grants: Vec::new(),
        };
        engine.bootstrap_function(&tenant, "spin", upload).await?;
        let catalog = engine.catalog(&tenant).await?;
        let mut streams = Vec::with_capacity(SPINNERS);
        for _ in 0..SPINNERS {
            let invocation = Box::new(Invocation {
                tenant: Arc::clone(&tenant),
                principal: Principal::Anonymous,
                skill: catalog.choose(&Principal::Anonymous, Some("spin"))?,
                input: json::checked("null".to_owned()).unwrap_or_default(),
                message: None,
                context: None,
                alias: None,
                once: None,
                push: None,
                door: Door::Http,
            });
            streams.push(engine.start(invocation).await.context("starting a spinning guest")?.1);
        }
        Ok(Self { slug, _streams: streams })
    }

    /// A tenant that is deleted runs nothing any more.
    async fn stop(self, engine: &Engine) -> anyhow::Result<()> {
        Ok(engine.delete_tenant(&operator(), &self.slug).await?)
    }
}

fn operator() -> Principal {
    Principal::Operator { id: "bench".to_owned() }
}
