//! What `manifest` gives says what the function is: it becomes the agent card and the check of every input.

use pleat_function::{Context, Error, Function, Manifest, Outcome, json};
use serde::Deserialize;

struct Greet;

#[derive(Deserialize)]
struct Input {
    name: String,
}

impl Function for Greet {
    type Input = Input;

    fn manifest() -> Manifest {
        Manifest::new("Greets a person by name")
            .input(json!({
                "type": "object",
                "properties": {"name": {"type": "string", "minLength": 1, "description": "Whom to greet"}},
                "required": ["name"]
            }))
            .examples(&[json!({"name": "Ada"})])
    }

    fn handle(input: Input, context: &Context) -> Result<Outcome, Error> {
        context.info(&format!("greeting {}", input.name));
        Outcome::value(&json!({"greeting": format!("Hello, {}!", input.name)}))
    }
}

pleat_function::export!(Greet);
