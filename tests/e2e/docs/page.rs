//! A page of the documentation, taken apart: its shell blocks, and what is said of each in the line above it.

use crate::harness::root;

pub struct Page {
    /// From the top of the source tree.
    pub name: String,
    pub blocks: Vec<Block>,
}

pub struct Block {
    /// Of the opening fence, counted from one.
    pub line: usize,
    pub text: String,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Runs,
    NotRun { reason: String },
    Fails { reason: String },
    Prints { text: String },
    Background { ready: String },
}

impl Page {
    pub fn all() -> Vec<Self> {
        let mut names = vec!["README.md".to_owned()];
        let docs = std::fs::read_dir(root().join("docs")).expect("docs/");
        let docs = docs.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        names.extend(docs.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}")));
        names.push("docs/guardrails/README.md".to_owned());
        // What those of the templates say is tried in tests/e2e/authoring.
        let sdk = ["js", "python", "rust", "examples/behaviours"];
        names.extend(sdk.map(|part| format!("functions-sdk/{part}/README.md")));
        names.sort();
        names.into_iter().map(Self::read).collect()
    }

    fn read(name: String) -> Self {
        let text = std::fs::read_to_string(root().join(&name)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let mut blocks = Vec::new();
        for (index, _) in lines.iter().enumerate().filter(|(_, line)| line.trim_end() == "```sh") {
            let body: Vec<&str> = lines[index + 1..].iter().copied().take_while(|line| *line != "```").collect();
            let above = index.checked_sub(1).map_or("", |above| lines[above]);
            let kind = Kind::of(above).unwrap_or_else(|| panic!("{name}:{index}: `{above}` is no mark: see docs.rs"));
            blocks.push(Block { line: index + 1, text: body.join("\n"), kind });
        }
        Self { name, blocks }
    }

    pub fn has_something_to_run(&self) -> bool {
        self.blocks.iter().any(|block| !matches!(block.kind, Kind::NotRun { .. }))
    }

    pub fn without_reason(&self) -> Vec<String> {
        let short = |block: &&Block| match &block.kind {
            Kind::NotRun { reason } | Kind::Fails { reason } => reason.len() < 8,
            _ => false,
        };
        self.blocks.iter().filter(short).map(|block| format!("{}:{}", self.name, block.line)).collect()
    }
}

impl Kind {
    /// `None`: a comment that looks like a mark and is none.
    fn of(above: &str) -> Option<Self> {
        let Some(mark) = above.trim().strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->")) else {
            return Some(Self::Runs);
        };
        // The line that `.ci/run` looks for; the tests do not run themselves.
        if mark.trim() == "test-command" {
            return Some(Self::NotRun { reason: "the command that runs this very test".to_owned() });
        }
        let (word, rest) = mark.split_once(':')?;
        let rest = rest.trim().to_owned();
        match word.trim() {
            "not-run" => Some(Self::NotRun { reason: rest }),
            "fails" => Some(Self::Fails { reason: rest }),
            "prints" => Some(Self::Prints { text: rest }),
            "background" => Some(Self::Background { ready: rest }),
            _ => None,
        }
    }
}
