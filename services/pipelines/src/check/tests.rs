//! Each way in which a pipeline does not hold together, and that what does is let through.

mod faults;
mod schemas;

use pleat_domain::SkillName;
use serde_json::{Value, json};

use crate::{Catalog, Checked, Definition, Faults, read};

fn name(text: &str) -> SkillName {
    SkillName::parse(text).unwrap()
}

/// `summarize` and `translate` say what they take and give, `anything` does not.
fn schemas() -> [Value; 4] {
    [
        json!({"type": "object", "required": ["text"], "additionalProperties": false,
               "properties": {"text": {"type": "string"}, "words": {"type": "integer", "minimum": 1}}}),
        json!({"type": "object", "required": ["summary"], "properties": {"summary": {"type": "string"}, "length": {"type": "integer"}}}),
        json!({"type": "object", "required": ["text", "target_language"],
               "properties": {"text": {"$ref": "#/$defs/text"}, "target_language": {"enum": ["es", "fr"]}},
               "$defs": {"text": {"type": "string", "minLength": 1}}}),
        json!({"type": "string"}),
    ]
}

fn checked_with(text: &str, pipelines: &[Definition]) -> Result<Checked, Faults> {
    let [text_in, summary, translation, plain] = schemas();
    let mut catalog = Catalog::default();
    catalog.function(&name("summarize"), Some(&text_in), Some(&summary));
    catalog.function(&name("translate"), Some(&translation), Some(&plain));
    catalog.function(&name("anything"), None, None);
    pipelines.iter().for_each(|definition| catalog.pipeline(definition));
    read(text, &catalog)
}

fn checked(text: &str) -> Result<Checked, Faults> {
    checked_with(text, &[])
}

/// Nothing wrong and nothing doubtful.
fn clean(text: &str) {
    let checked = checked(text).unwrap_or_else(|faults| panic!("{text}\n{faults}"));
    assert_eq!(checked.warnings, [], "{text}");
}

fn faults(text: &str) -> String {
    checked(text).expect_err(text).to_string()
}

fn warnings(text: &str) -> String {
    let warnings = checked(text).unwrap_or_else(|faults| panic!("{text}\n{faults}")).warnings;
    warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
