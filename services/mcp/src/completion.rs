//! Completion: what could follow what a user has typed of an argument.
//!
//! A function says in its manifest which values an argument may have (`values`, a list of texts), at the arguments of
//! its prompts and, by name, at its resource templates.

use pleat_domain::Manifest;
use serde_json::{Map, Value, json};

use crate::prompt;

/// Values in one answer.
const MOST: usize = 100;

/// Of an argument of a prompt.
pub fn of_prompt(manifest: &Manifest, name: &str, argument: &str) -> Vec<String> {
    let Some(prompt) = prompt::offered(manifest, name) else { return Vec::new() };
    let all = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten();
    let meant = all.into_iter().find(|one| one.get("name").is_some_and(|own| own == argument));
    meant.map(|argument| texts(argument.get("values"))).unwrap_or_default()
}

/// Of what a function's use is asked for: its examples.
pub fn of_usage(manifest: &Manifest, argument: &str) -> Vec<String> {
    if argument != prompt::REQUEST {
        return Vec::new();
    }
    manifest.examples.iter().map(ToString::to_string).collect()
}

/// Of a variable of a resource template.
pub fn of_template(manifest: &Manifest, uri: &str, variable: &str) -> Option<Vec<String>> {
    let meant = |one: &&Value| one.get("uriTemplate").is_some_and(|own| own == uri);
    let template = manifest.resource_templates.iter().find(meant)?;
    Some(texts(template.get("values").and_then(|values| values.get(variable))))
}

fn texts(values: Option<&Value>) -> Vec<String> {
    let values = values.and_then(Value::as_array).into_iter().flatten();
    values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

/// Those that begin with what was typed.
pub fn result(candidates: Vec<String>, typed: &str) -> Map<String, Value> {
    let begins = |value: &String| value.to_lowercase().starts_with(&typed.to_lowercase());
    let mut fitting: Vec<String> = candidates.into_iter().filter(begins).collect();
    let total = fitting.len();
    fitting.truncate(MOST);
    let completion = json!({ "values": fitting, "total": total, "hasMore": total > MOST });
    Map::from_iter([("completion".to_owned(), completion)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_completed_from_the_manifest() {
        let manifest = Manifest {
            prompts: vec![json!({"name": "p", "arguments": [{"name": "city", "values": ["Oslo", "Osaka", "Rome"]}]})],
            resource_templates: vec![json!({"uriTemplate": "x://{id}", "values": {"id": ["1"]}})],
            ..Manifest::default()
        };
        let found = result(of_prompt(&manifest, "p", "city"), "os");
        assert_eq!(found["completion"], json!({"values": ["Oslo", "Osaka"], "total": 2, "hasMore": false}));
        assert_eq!(of_template(&manifest, "x://{id}", "id"), Some(vec!["1".to_owned()]));
        assert_eq!(of_template(&manifest, "y://{id}", "id"), None);
        assert!(of_prompt(&manifest, "q", "city").is_empty());
    }

    #[test]
    fn no_more_than_a_hundred_are_given() {
        let found = result((0..150).map(|n| n.to_string()).collect(), "");
        assert_eq!(found["completion"]["values"].as_array().unwrap().len(), 100);
        assert_eq!((&found["completion"]["total"], &found["completion"]["hasMore"]), (&json!(150), &json!(true)));
    }
}
