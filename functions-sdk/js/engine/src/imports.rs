//! Imports, which are refused: a function is one file. The refusal says which import and where.

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Exception, Module, Result};

/// Refuses every import of one file. QuickJS does not say where an import stands, so the places are looked up in
/// the source beforehand.
pub struct Refuse {
    file_name: String,
    sites: Vec<Site>,
}

struct Site {
    specifier: String,
    line: usize,
    column: usize,
}

impl Refuse {
    pub fn new(file_name: &str, source: &str) -> Self {
        let lines = (1..).zip(source.lines());
        let sites = lines.filter(|(_, text)| text.contains("import") || text.contains("from"));
        let sites = sites.flat_map(|(line, text)| sites_of(line, text)).collect();
        Self { file_name: file_name.to_owned(), sites }
    }
}

impl Resolver for Refuse {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        _base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let message = format!("imports are not supported yet: put everything into one file (`{name}` is imported)");
        let exception = Exception::from_message(ctx.clone(), &message)?;
        if let Some(site) = self.sites.iter().find(|site| site.specifier == name) {
            let frame = format!("    at {}:{}:{}\n", self.file_name, site.line, site.column);
            exception.as_object().set("stack", frame)?;
        }
        exception.as_object().set("code", "import_unsupported")?;
        Err(exception.throw())
    }
}

/// Never reached, because nothing resolves; QuickJS wants one all the same.
pub struct NoModules;

impl Loader for NoModules {
    fn load<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        Err(Error::new_loading(name))
    }
}

/// The quoted texts of a line that follow `from`, `import` or `import(`.
fn sites_of(line: usize, text: &str) -> Vec<Site> {
    let mut sites = Vec::new();
    let mut before = "";
    let mut column = 0;
    for piece in text.split(['"', '\'', '`']) {
        let word = before.trim_end().trim_end_matches('(').trim_end();
        if word.ends_with("from") || word.ends_with("import") {
            sites.push(Site { specifier: piece.to_owned(), line, column });
        }
        before = piece;
        column += piece.chars().count() + 1;
    }
    sites
}
