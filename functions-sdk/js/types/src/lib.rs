//! Takes the types out of TypeScript. A component, because the text is a stranger's: the platform runs this in a sandbox
//! with limits, and no parser of it is part of the platform's own binary.

mod blanks;
mod excerpt;
mod strip;
mod words;

mod bindings {
    wit_bindgen::generate!({ path: "wit", world: "types" });
}

struct Types;

impl bindings::Guest for Types {
    fn strip(file_name: String, source: String) -> Result<String, String> {
        strip::strip(&file_name, &source)
    }
}

bindings::export!(Types with_types_in bindings);
