//! A look at a component before it is compiled: is it one, of our world, and of a size that compiles in reasonable
//! time. Counts only; that it is valid is for the compiler to say.
//!
//! It depends on the parser alone, so that a fuzz target can run it without the compiler.

use wasmparser::{Encoding, FunctionBody, Operator, Parser, Payload};

/// The interface by which the host calls in; its version tells contract versions apart.
const HANDLER: &str = "pleat:function/handler@1.";
/// Prefixes of what can be imported.
const PROVIDED: [&str; 7] =
    ["pleat:function/", "wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/", "wasi:sockets/"];

/// Modules and components inside each other.
const DEPTH: usize = 8;
/// CPython with its libraries has about 40; anything with hundreds was made to hurt.
const MODULES: usize = 200;
const FUNCTIONS: usize = 60_000;
/// One function. Compiling is worse than linear in it.
const BODY_BYTES: usize = 1 << 20;
/// Blocks inside each other. The `switch` of an interpreter nests by its number of cases.
const NESTING: usize = 4_000;
const LOCALS: usize = 50_000;
/// Entries of any other section, all modules together.
const ENTRIES: usize = 200_000;

/// Why a component is not compiled, in words for its deployer.
#[derive(Debug)]
pub(super) enum Unfit {
    Invalid(String),
    TooComplex(String),
}

pub(super) fn check(bytes: &[u8]) -> Result<(), Unfit> {
    if !bytes.starts_with(b"\0asm") {
        return Err(invalid("the file is not WebAssembly: it does not begin with `\\0asm`"));
    }
    let mut counts = Counts::default();
    for payload in Parser::new(0).parse_all(bytes) {
        counts.payload(payload.map_err(|error| invalid(&format!("the component is not valid: {error}")))?)?;
    }
    if !counts.has_handler {
        return Err(invalid(&format!(
            "the component does not export `{HANDLER}0.0`: build it for the world `pleat:function/function`"
        )));
    }
    Ok(())
}

#[derive(Default)]
struct Counts {
    depth: usize,
    modules: usize,
    functions: usize,
    entries: usize,
    has_handler: bool,
}

impl Counts {
    fn payload(&mut self, payload: Payload<'_>) -> Result<(), Unfit> {
        match payload {
            Payload::Version { encoding, .. } => self.enter(encoding)?,
            Payload::End(_) => self.depth = self.depth.saturating_sub(1),
            Payload::CodeSectionStart { count, .. } => {
                self.functions += count as usize;
                most("functions", self.functions, FUNCTIONS)?;
            }
            Payload::CodeSectionEntry(body) => check_body(&body).map_err(|error| match error {
                BodyFault::Parse(error) => invalid(&format!("the component is not valid: {error}")),
                BodyFault::Most(unfit) => unfit,
            })?,
            Payload::ComponentImportSection(imports) if self.depth == 1 => {
                self.entries += imports.count() as usize;
                for import in imports {
                    check_import(import.map_err(|error| invalid(&error.to_string()))?.name.name)?;
                }
            }
            Payload::ComponentExportSection(exports) if self.depth == 1 => {
                self.entries += exports.count() as usize;
                for export in exports {
                    let export = export.map_err(|error| invalid(&error.to_string()))?;
                    self.has_handler |= export.name.name.starts_with(HANDLER);
                }
            }
            other => self.entries += entries(&other),
        }
        most("declarations", self.entries, ENTRIES)
    }

    fn enter(&mut self, encoding: Encoding) -> Result<(), Unfit> {
        if self.depth == 0 && encoding == Encoding::Module {
            return Err(invalid(
                "this is a core WebAssembly module, and functions are components: build for a component target \
                 (Rust: `cargo build --target wasm32-wasip2`), or wrap the module with `wasm-tools component new`",
            ));
        }
        self.depth += 1;
        self.modules += 1;
        most("modules inside each other", self.depth, DEPTH)?;
        most("modules", self.modules, MODULES)
    }
}

fn entries(payload: &Payload<'_>) -> usize {
    let count = match payload {
        Payload::TypeSection(section) => section.count(),
        Payload::ImportSection(section) => section.count(),
        Payload::TableSection(section) => section.count(),
        Payload::MemorySection(section) => section.count(),
        Payload::TagSection(section) => section.count(),
        Payload::GlobalSection(section) => section.count(),
        Payload::ExportSection(section) => section.count(),
        Payload::ElementSection(section) => section.count(),
        Payload::DataSection(section) => section.count(),
        Payload::InstanceSection(section) => section.count(),
        Payload::CoreTypeSection(section) => section.count(),
        Payload::ComponentInstanceSection(section) => section.count(),
        Payload::ComponentAliasSection(section) => section.count(),
        Payload::ComponentTypeSection(section) => section.count(),
        Payload::ComponentCanonicalSection(section) => section.count(),
        Payload::ComponentImportSection(section) => section.count(),
        Payload::ComponentExportSection(section) => section.count(),
        Payload::CustomSection(_) => 1,
        _ => 0,
    };
    count as usize
}

enum BodyFault {
    Parse(wasmparser::BinaryReaderError),
    Most(Unfit),
}

impl From<wasmparser::BinaryReaderError> for BodyFault {
    fn from(error: wasmparser::BinaryReaderError) -> Self {
        Self::Parse(error)
    }
}

fn check_body(body: &FunctionBody<'_>) -> Result<(), BodyFault> {
    most("bytes in one function", body.range().len(), BODY_BYTES).map_err(BodyFault::Most)?;
    let mut locals = 0_u64;
    for group in body.get_locals_reader()? {
        locals = locals.saturating_add(u64::from(group?.0));
    }
    let locals = usize::try_from(locals).unwrap_or(usize::MAX);
    most("local variables in one function", locals, LOCALS).map_err(BodyFault::Most)?;
    let mut depth = 0_usize;
    let mut operators = body.get_operators_reader()?;
    while !operators.eof() {
        match operators.read()? {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } | Operator::TryTable { .. } => {
                depth += 1;
                most("blocks inside each other", depth, NESTING).map_err(BodyFault::Most)?;
            }
            Operator::End => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

fn check_import(name: &str) -> Result<(), Unfit> {
    if PROVIDED.iter().any(|prefix| name.starts_with(prefix)) {
        return Ok(());
    }
    let name: String = name.chars().take(200).collect();
    Err(invalid(&format!("the component imports `{name}`, which the platform does not provide")))
}

fn most(what: &str, count: usize, most: usize) -> Result<(), Unfit> {
    if count > most {
        return Err(Unfit::TooComplex(format!("the component has {count} {what}; the most is {most}")));
    }
    Ok(())
}

fn invalid(message: &str) -> Unfit {
    Unfit::Invalid(message.to_owned())
}
