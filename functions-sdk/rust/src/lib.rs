//! Write a Pleat function in Rust: implement [`Function`], name it in [`export!`], build for `wasm32-wasip2`.
//!
//! ```ignore
//! use pleat_function::{Context, Error, Function, Manifest, Outcome, json};
//!
//! struct Hello;
//!
//! #[derive(serde::Deserialize)]
//! struct Input { name: String }
//!
//! impl Function for Hello {
//!     type Input = Input;
//!
//!     fn manifest() -> Manifest {
//!         Manifest::new("Greets someone").input(json!({
//!             "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}
//!         }))
//!     }
//!
//!     fn handle(input: Input, context: &Context) -> Result<Outcome, Error> {
//!         context.info("greeting");
//!         Outcome::value(&format!("Hello, {}!", input.name))
//!     }
//! }
//!
//! pleat_function::export!(Hello);
//! ```

mod adapter;
mod call;
mod context;
mod error;
mod function;
mod http;
mod key_value;
mod manifest;
mod outcome;
mod pending;
mod settings;

#[doc(hidden)]
pub use adapter::Adapter;
pub use call::PendingCall;
pub use context::{Context, EmitError, Level};
pub use error::Error;
pub use function::Function;
pub use http::{PendingResponse, Request, Response};
pub use key_value::{KeyValue, KvError, Page};
pub use manifest::Manifest;
pub use outcome::{Ask, Outcome};
pub use pending::{Pending, first, join};
pub use serde_json::value::RawValue;
pub use serde_json::{Value, json};

/// The generated guest side of the contract, for what the rest of this crate does not cover.
pub mod bindings {
    wit_bindgen::generate!({
        path: "../wit",
        world: "function",
        generate_all,
        pub_export_macro: true,
        default_bindings_module: "pleat_function::bindings",
    });
}

/// Makes a type that implements [`Function`] the function of this component.
#[macro_export]
macro_rules! export {
    ($function:ty) => {
        type PleatFunctionAdapter = $crate::Adapter<$function>;
        $crate::bindings::export!(PleatFunctionAdapter with_types_in $crate::bindings);
    };
}
