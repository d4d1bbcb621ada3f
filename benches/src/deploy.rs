//! From the first byte of an upload to the first correct answer of the function, for sources that were never seen
//! before. The script engine is compiled already, as it is on a platform that has been running.

use std::time::Instant;

use crate::http::Connection;
use crate::options::Options;
use crate::platform::{Platform, echo};
use crate::stats::Series;
use crate::table::{Demand, Row, say};

const SCRIPT_BYTES: usize = 5_000;

pub async fn measure(platform: &Platform, options: &Options) -> anyhow::Result<Vec<Row>> {
    say("deploys");
    let mut connection = Connection::open(platform.address).await?;
    let (mut script, mut component) = (Series::default(), Series::default());
    let wasm = echo()?;
    for round in 0..options.rounds() * 2 {
        let build = format!("{}-{round}", std::process::id());
        let source = script_of(&build);
        let answer = format!(r#"{{"build":"{build}","total":126}}"#);
        let name = format!("script-{round}");
        let called = Call { file_name: "bench.js", source: source.as_bytes(), input: r#"{"n":2}"#, answer: &answer };
        script.push(called.deploy(platform, &mut connection, &name).await?);

        let source = with_custom_section(&wasm, &build);
        let name = format!("component-{round}");
        let called = Call { file_name: "bench.wasm", source: &source, input: r#"{"n":2}"#, answer: r#"{"n":2}"# };
        component.push(called.deploy(platform, &mut connection, &name).await?);
    }
    let size = wasm.len() / 1_000;
    Ok(vec![
        Row::shown("deploy.js", "5 kB of JavaScript: upload to first answer", "s", script)
            .demanded(Demand::AtMost(2.0)),
        Row::shown("deploy.rust", format!("a Rust component of {size} kB: the same"), "s", component)
            .demanded(Demand::AtMost(0.5)),
    ])
}

struct Call<'a> {
    file_name: &'a str,
    source: &'a [u8],
    input: &'a str,
    answer: &'a str,
}

impl Call<'_> {
    /// Seconds.
    async fn deploy(&self, platform: &Platform, connection: &mut Connection, name: &str) -> anyhow::Result<f64> {
        let call = platform.call(name, self.input);
        let began = Instant::now();
        platform.deploy(connection, name, self.file_name, self.source).await?;
        let answer = connection.exchange(&call).await?;
        let took = began.elapsed();
        let right = answer.status == 200 && answer.body == self.answer.as_bytes();
        anyhow::ensure!(right, "`{name}` answered {} {}", answer.status, answer.text());
        Ok(took.as_secs_f64())
    }
}

/// A file of the right size with something in it to load: a row of functions and a table.
fn script_of(build: &str) -> String {
    let mut source = format!("// build {build}\nexport const description = 'adds up';\nconst steps = [];\n");
    let end = format!(
        "export default async function (input) {{\n  \
         const total = steps.slice(0, 9).reduce((sum, step) => sum + step(input.n), 0);\n  \
         return {{ build: '{build}', total }};\n}}\n"
    );
    let mut step = 0;
    while source.len() + end.len() < SCRIPT_BYTES {
        // The first nine add up to 36 + 9 * n * 5 = 126 for n = 2.
        source.push_str(&format!("steps.push(function step{step}(n) {{ return {step} + n * 5; }});\n"));
        step += 1;
    }
    source + &end
}

/// The same component with another hash.
fn with_custom_section(component: &[u8], note: &str) -> Vec<u8> {
    let mut bytes = component.to_vec();
    // Section 0, its size, the length of its name, its name; short enough for one byte each.
    let length = u8::try_from(note.len()).unwrap_or(u8::MAX).min(100);
    bytes.extend([0, length + 1, length]);
    bytes.extend(note.bytes().take(usize::from(length)));
    bytes
}
