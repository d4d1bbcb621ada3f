//! Between the generated exports and [`Function`]: JSON text in, JSON text out.

use std::marker::PhantomData;

use crate::bindings::exports::pleat::function::handler::Guest;
use crate::bindings::pleat::function::types;
use crate::{Context, Error, Function};

pub struct Adapter<F>(PhantomData<F>);

impl<F: Function> Guest for Adapter<F> {
    fn describe() -> Result<String, types::Error> {
        Ok(F::manifest().to_json())
    }

    fn handle(input: String, context: types::Context) -> Result<types::Outcome, types::Error> {
        let input = serde_json::from_str(&input)
            .map_err(|error| Error::new("invalid_input", format!("the input does not fit: {error}")))?;
        Ok(F::handle(input, &Context::new(context))?.into())
    }

    fn read_resource(uri: String, context: types::Context) -> Result<String, types::Error> {
        Ok(F::read_resource(&uri, &Context::new(context))?.to_string())
    }

    fn get_prompt(name: String, arguments: String, context: types::Context) -> Result<String, types::Error> {
        let arguments = serde_json::from_str(&arguments)
            .map_err(|error| Error::new("invalid_arguments", format!("the arguments do not fit: {error}")))?;
        Ok(F::get_prompt(&name, arguments, &Context::new(context))?.to_string())
    }
}
