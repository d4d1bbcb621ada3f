//! The agent card against the least that the same web framework can answer, asked by the same client.

use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::http::Request;
use crate::load::{self, Plan};
use crate::options::Options;
use crate::platform::Platform;
use crate::stats::Series;
use crate::table::{Demand, Row, say};

const CONNECTIONS: usize = 64;

pub async fn measure(platform: &Platform, options: &Options) -> anyhow::Result<Vec<Row>> {
    say("the card");
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let stop = CancellationToken::new();
    let told = stop.clone();
    let router = Router::new().route("/hello", get(|| async { "hello" }));
    let serving =
        tokio::spawn(async move { axum::serve(listener, router).with_graceful_shutdown(told.cancelled_owned()).await });
    let hello = Request { method: "GET", path: "/hello", key: None, content_type: None, body: &[] }.bytes(address);

    let (mut cards, mut hellos, mut ratio) = (Series::default(), Series::default(), Series::default());
    for _ in 0..options.rounds() {
        let plan = |address| Plan {
            address,
            connections: CONNECTIONS,
            warm_up: options.warm_up() / 2,
            lasting: options.round() / 2,
        };
        let plain = load::run(&plan(address), &hello).await?.rate;
        let card = load::run(&plan(platform.address), &platform.card()).await?.rate;
        hellos.push(plain);
        cards.push(card);
        ratio.push(card / plain);
    }
    stop.cancel();
    serving.await??;
    Ok(vec![
        Row::shown("card.hello", format!("plain axum hello, {CONNECTIONS} connections"), "/s", hellos),
        Row::shown("card.card", "agent card", "/s", cards),
        Row::shown("card.to_hello", "agent card against hello", "×", ratio).demanded(Demand::AtLeast(0.5)),
    ])
}
