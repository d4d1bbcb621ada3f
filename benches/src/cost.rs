//! What one call costs in processor time, the server's and PostgreSQL's apart, at each door and under more or less load.
//!
//! A rate says how fast a machine is when all of it is busy; this says what there is to save, and on which side.

use crate::cpu;
use crate::http::Connection;
use crate::load::{self, Plan};
use crate::official;
use crate::options::Options;
use crate::platform::{Platform, echo};
use crate::stats::Series;
use crate::table::{Row, say};

const CONNECTIONS: [usize; 3] = [16, 64, 256];

pub async fn measure(platform: &Platform, options: &Options) -> anyhow::Result<Vec<Row>> {
    let mut connection = Connection::open(platform.address).await?;
    platform.deploy(&mut connection, official::FUNCTION, "echo.wasm", &echo()?).await?;
    let doors = official::protocols().map(|protocol| {
        let request = platform.post(protocol.path, protocol.headers, &protocol.body);
        Door { path: protocol.path, request, costs: Default::default() }
    });
    let mut doors = doors;
    for round in 0..options.rounds() {
        say(&format!("the cost of a call, round {} of {}", round + 1, options.rounds()));
        for door in &mut doors {
            door.round(platform, options).await?;
        }
    }
    Ok(doors.into_iter().flat_map(Door::rows).collect())
}

struct Door {
    path: &'static str,
    request: Vec<u8>,
    costs: [Cost; CONNECTIONS.len()],
}

#[derive(Default)]
struct Cost {
    server: Series,
    postgres: Series,
}

impl Door {
    async fn round(&mut self, platform: &Platform, options: &Options) -> anyhow::Result<()> {
        for (connections, cost) in CONNECTIONS.into_iter().zip(&mut self.costs) {
            let (warm_up, lasting) = (options.warm_up(), options.round());
            let plan = Plan { address: platform.address, connections, warm_up, lasting };
            let used = || Ok::<_, anyhow::Error>((cpu::own(), cpu::of_tree(platform.postgres()?)));
            let before = used()?;
            let load = load::run(&plan, &self.request).await?;
            let after = used()?;
            // Warming up costs the same for each answer.
            let answers = (load.rate * (warm_up + lasting).as_secs_f64()).max(1.0);
            cost.server.push((after.0 - before.0) / answers);
            cost.postgres.push((after.1 - before.1) / answers);
        }
        Ok(())
    }

    fn rows(self) -> impl Iterator<Item = Row> {
        CONNECTIONS.into_iter().zip(self.costs).flat_map(move |(connections, cost)| {
            let at = format!("a call at {}, {connections} connections", self.path);
            [
                Row::shown("cost.server", format!("{at}: of the server"), "µs", cost.server),
                Row::shown("cost.postgres", "the same: of PostgreSQL", "µs", cost.postgres),
            ]
        })
    }
}
