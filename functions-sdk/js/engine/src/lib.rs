//! QuickJS as a component of the function world: every deployed JavaScript file runs in a snapshot of this.
//!
//! The exports of the contract are here, and nothing else: `engine` runs the script, `native` is what the script
//! reaches of the host. State lives in thread locals because an instance serves one call on one thread.

mod allocator;
mod engine;
mod excerpt;
mod modules;
mod native;
mod outcome;
mod pending;
mod prelude;
mod random;
mod settle;

mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit", "wit"],
        world: "pleat:script/script",
        generate_all,
    });
}

use bindings::exports::loader;
use bindings::exports::pleat::function::handler;
use bindings::pleat::function::types::{Context, Error, Outcome};

struct Script;

impl loader::Guest for Script {
    fn load(files: Vec<(String, String)>) -> Result<(), String> {
        engine::load(files)
    }
}

impl handler::Guest for Script {
    fn describe() -> Result<String, Error> {
        engine::describe()
    }

    fn handle(input: String, context: Context) -> Result<Outcome, Error> {
        engine::handle(input, context)
    }

    fn read_resource(uri: String, context: Context) -> Result<String, Error> {
        engine::read_resource(&uri, context)
    }

    fn get_prompt(name: String, arguments: String, context: Context) -> Result<String, Error> {
        engine::get_prompt(&name, arguments, context)
    }
}

bindings::export!(Script with_types_in bindings);
