//! Imports: other files of the same bundle, by relative path. Everything else is refused, and the refusal says which
//! import and where.

use std::collections::BTreeMap;
use std::rc::Rc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Exception, Module, Result};

/// The author's files by path.
#[derive(Clone)]
pub struct Files(Rc<BTreeMap<String, String>>);

impl Files {
    pub fn new(files: Vec<(String, String)>) -> Self {
        Self(Rc::new(files.into_iter().collect()))
    }

    pub fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// A file that cannot be text.
    pub fn with_nul(&self) -> Option<&str> {
        self.0.iter().find(|(_, text)| text.contains('\0')).map(|(path, _)| path.as_str())
    }
}

impl Resolver for Files {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let reason = if !name.starts_with("./") && !name.starts_with("../") {
            format!(
                "cannot import `{name}`: packages and URLs are not available; bundle it into your file (for example with \
                 esbuild), or import a file of your own by a relative path such as `./{name}.js`"
            )
        } else {
            match joined(base, name) {
                Some(path) if self.0.contains_key(&path) => return Ok(path),
                Some(path) => match self.typed(&path) {
                    Some(path) => return Ok(path),
                    None => format!(
                        "cannot import `{name}`: there is no file `{path}` among those deployed{}",
                        self.hint(&path)
                    ),
                },
                None => format!("cannot import `{name}`: it lies outside of the function's directory"),
            }
        };
        let exception = Exception::from_message(ctx.clone(), &reason)?;
        if let Some((line, column)) = self.text(base).and_then(|source| site(source, name)) {
            exception.as_object().set("stack", format!("    at {base}:{line}:{column}\n"))?;
        }
        exception.as_object().set("code", "import_failed")?;
        Err(exception.throw())
    }
}

impl Files {
    /// TypeScript is imported by the name that its JavaScript would have.
    fn typed(&self, path: &str) -> Option<String> {
        let (stem, extension) = path.rsplit_once('.')?;
        let typed = match extension {
            "js" => format!("{stem}.ts"),
            "mjs" => format!("{stem}.mts"),
            _ => return None,
        };
        self.0.contains_key(&typed).then_some(typed)
    }

    fn hint(&self, path: &str) -> String {
        let written = ["js", "ts", "mjs", "mts", "json"].map(|extension| format!("{path}.{extension}"));
        let found = written.iter().find(|candidate| self.0.contains_key(*candidate));
        found.map(|found| format!("; write the extension: `{found}`")).unwrap_or_default()
    }
}

impl Loader for Files {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let source = self.text(name).unwrap_or_default();
        if !name.ends_with(".json") {
            return Module::declare(ctx.clone(), name, source);
        }
        // Parsed here for the error, and again there: text of JSON is not always text of JavaScript.
        if let Err(_) = ctx.json_parse(source) {
            let _ = ctx.catch();
            return Err(Exception::throw_syntax(ctx, &format!("`{name}` is not valid JSON")));
        }
        let text = rquickjs::String::from_str(ctx.clone(), source)?;
        let literal = ctx.json_stringify(text)?.map(|literal| literal.to_string()).transpose()?.unwrap_or_default();
        Module::declare(ctx.clone(), name, format!("export default JSON.parse({literal});"))
    }
}

/// `name` as seen from the file `base`; nothing if it leaves the bundle.
fn joined(base: &str, name: &str) -> Option<String> {
    let mut path: Vec<&str> = base.split('/').collect();
    path.pop();
    for segment in name.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                path.pop()?;
            }
            other => path.push(other),
        }
    }
    Some(path.join("/"))
}

/// Line and column of the quoted `specifier` after `from`, `import` or `import(`. QuickJS does not say them.
fn site(source: &str, specifier: &str) -> Option<(usize, usize)> {
    (1..).zip(source.lines()).find_map(|(line, text)| {
        let mut before = "";
        let mut column = 0;
        for piece in text.split(['"', '\'', '`']) {
            let word = before.trim_end().trim_end_matches('(').trim_end();
            if piece == specifier && (word.ends_with("from") || word.ends_with("import")) {
                return Some((line, column));
            }
            before = piece;
            column += piece.chars().count() + 1;
        }
        None
    })
}
