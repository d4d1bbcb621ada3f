//! Prompts: what functions offer, and one for each function that shows how it is used.

use pleat_domain::Manifest;
use serde_json::{Map, Value, json};

use crate::tool;

const USE: &str = "use-";
/// What the user wants done, in its own words.
pub const REQUEST: &str = "request";

/// What is listed for a function: how it is used, and what it offers.
pub fn listed(name: &str, manifest: &Manifest) -> Vec<Value> {
    let own = json!({
        "name": format!("{USE}{name}"),
        "description": format!("Use the tool {name}: {}", tool::description(name, manifest)),
        "arguments": [{ "name": REQUEST, "description": "What it should be used for", "required": false }],
    });
    std::iter::once(own).chain(manifest.prompts.iter().filter_map(entry)).collect()
}

/// Nothing for a prompt without a name. `values` is ours, for completion.
fn entry(given: &Value) -> Option<Value> {
    let mut prompt = given.as_object()?.clone();
    prompt.get("name")?.as_str()?;
    if let Some(arguments) = prompt.get_mut("arguments").and_then(Value::as_array_mut) {
        arguments.iter_mut().filter_map(Value::as_object_mut).for_each(|argument| drop(argument.remove("values")));
    }
    Some(Value::Object(prompt))
}

/// The function whose use is asked for.
pub fn used(name: &str) -> Option<&str> {
    name.strip_prefix(USE)
}

/// The prompt of that name, if the function offers it.
pub fn offered<'a>(manifest: &'a Manifest, name: &str) -> Option<&'a Value> {
    manifest.prompts.iter().find(|prompt| prompt.get("name").is_some_and(|own| own == name))
}

/// An argument that the prompt needs and was not given.
pub fn missing<'a>(prompt: &'a Value, given: &Map<String, Value>) -> Option<&'a str> {
    let arguments = prompt.get("arguments")?.as_array()?;
    let needed = arguments.iter().filter(|argument| argument.get("required").is_some_and(|required| required == true));
    needed.filter_map(|argument| argument.get("name")?.as_str()).find(|name| !given.contains_key(*name))
}

/// How a function is used, with its examples.
pub fn usage(name: &str, manifest: &Manifest, request: Option<&str>) -> Map<String, Value> {
    let mut text = format!("Use the tool `{name}`. {}", tool::description(name, manifest));
    // Of a text it is not known which argument it is.
    for example in manifest.examples.iter().filter(|example| example.is_object()) {
        text.push_str(&format!("\n\nArguments that work:\n{example}"));
    }
    if let Some(request) = request.filter(|request| !request.is_empty()) {
        text.push_str(&format!("\n\nWhat is wanted:\n{request}"));
    }
    let messages = json!([{ "role": "user", "content": { "type": "text", "text": text } }]);
    let description = format!("How the tool {name} is used");
    Map::from_iter([("description".to_owned(), Value::from(description)), ("messages".to_owned(), messages)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_without_prompts_has_the_one_that_shows_its_use() {
        let manifest = Manifest { examples: vec![json!({"a": 1}), json!("say hi")], ..Manifest::default() };
        let listed = listed("adder", &manifest);
        assert_eq!((listed.len(), &listed[0]["name"]), (1, &json!("use-adder")));
        assert_eq!(used("use-adder"), Some("adder"));
        let usage = usage("adder", &manifest, Some("add 1"));
        let text = usage["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains(r#"{"a":1}"#) && text.contains("add 1") && !text.contains("say hi"), "{text}");
    }

    #[test]
    fn an_argument_that_is_needed_is_missed() {
        let prompt =
            json!({"name": "p", "arguments": [{"name": "a", "required": true, "values": ["x"]}, {"name": "b"}]});
        assert_eq!(missing(&prompt, &Map::new()), Some("a"));
        assert_eq!(missing(&prompt, &Map::from_iter([("a".to_owned(), Value::Null)])), None);
        assert_eq!(entry(&prompt).unwrap()["arguments"][0], json!({"name": "a", "required": true}));
    }
}
