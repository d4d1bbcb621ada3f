//! Returns its input unread: the smallest function, and the one that measurements use.

use pleat_function::{Context, Error, Function, Manifest, Outcome, RawValue, json};

struct Echo;

impl Function for Echo {
    type Input = Box<RawValue>;

    fn manifest() -> Manifest {
        Manifest::new("Returns its input unchanged")
            .title("Echo")
            .tags(&["example", "rust"])
            .examples(&[json!({"hello": "world"})])
            .idempotent()
    }

    fn handle(input: Box<RawValue>, _: &Context) -> Result<Outcome, Error> {
        Outcome::value(&input)
    }
}

pleat_function::export!(Echo);
