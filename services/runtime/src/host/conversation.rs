//! `conversation`: what the engine knows of the message and of what went before.

use pleat_bindings::conversation;

use crate::state::State;

impl conversation::Host for State {
    fn message(&mut self) -> wasmtime::Result<String> {
        self.cross(0)?;
        Ok(self.host.message())
    }

    fn history(&mut self) -> wasmtime::Result<Vec<String>> {
        self.cross(0)?;
        Ok(self.host.history())
    }

    fn state(&mut self) -> wasmtime::Result<Option<String>> {
        self.cross(0)?;
        Ok(self.host.state())
    }

    fn reply(&mut self) -> wasmtime::Result<Option<String>> {
        self.cross(0)?;
        Ok(self.host.reply())
    }
}
