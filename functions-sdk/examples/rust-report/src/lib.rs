//! Asks another skill about several places at once, counts its own runs and signs the report with a secret name.

use pleat_function::{Context, Error, Function, Manifest, Outcome, PendingCall, Value, join, json};

struct Report;

#[derive(serde::Deserialize)]
struct Input {
    cities: Vec<String>,
}

impl Function for Report {
    type Input = Input;

    fn manifest() -> Manifest {
        Manifest::new("Reports on several cities at once")
            .title("Report")
            .tags(&["example", "rust"])
            .input(json!({
                "type": "object",
                "required": ["cities"],
                "properties": {"cities": {"type": "array", "items": {"type": "string"}, "maxItems": 20}}
            }))
            .examples(&[json!({"cities": ["Berlin", "Paris"]})])
            .secrets(&["REPORT_AUTHOR"])
            .config(&["REPORT_TITLE"])
            .skills(&["weather-lookup"])
            .key_value()
    }

    fn handle(input: Input, context: &Context) -> Result<Outcome, Error> {
        // All of them are under way before the first is waited for.
        let pending: Vec<PendingCall> = input
            .cities
            .iter()
            .map(|city| context.start_call("weather-lookup", &json!({"city": city})))
            .collect::<Result<_, _>>()?;
        let found: Vec<Value> = join(pending).into_iter().collect::<Result<_, _>>()?;
        Outcome::value(&json!({
            "title": context.config("REPORT_TITLE").unwrap_or_else(|| "Report".to_owned()),
            "author": context.secret("REPORT_AUTHOR")?,
            "number": context.key_value().increment("reports", 1)?,
            "cities": found,
        }))
    }
}

pleat_function::export!(Report);
