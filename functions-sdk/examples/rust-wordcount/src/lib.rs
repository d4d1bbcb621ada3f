//! Counts words, and shows typed input and output, progress and an error of the function's own.

use std::collections::BTreeMap;

use pleat_function::{Context, Error, Function, Manifest, Outcome, json};
use serde::{Deserialize, Serialize};

struct WordCount;

#[derive(Deserialize)]
struct Input {
    text: String,
    #[serde(default = "ten")]
    top: usize,
}

#[derive(Serialize)]
struct Output {
    words: usize,
    distinct: usize,
    top: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    word: String,
    count: usize,
}

fn ten() -> usize {
    10
}

impl Function for WordCount {
    type Input = Input;

    fn manifest() -> Manifest {
        Manifest::new("Counts the words of a text and lists the most frequent ones")
            .title("Word count")
            .input(json!({
                "type": "object",
                "required": ["text"],
                "properties": {
                    "text": {"type": "string", "description": "The text to count"},
                    "top": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}
                }
            }))
            .output(json!({
                "type": "object",
                "required": ["words", "distinct", "top"],
                "properties": {
                    "words": {"type": "integer"},
                    "distinct": {"type": "integer"},
                    "top": {"type": "array", "items": {"type": "object"}}
                }
            }))
            .tags(&["example", "rust", "text"])
            .examples(&[json!({"text": "to be or not to be"})])
            .idempotent()
    }

    fn handle(input: Input, context: &Context) -> Result<Outcome, Error> {
        let mut counts = BTreeMap::<String, usize>::new();
        for word in input.text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()) {
            *counts.entry(word.to_lowercase()).or_default() += 1;
        }
        let words: usize = counts.values().sum();
        if words == 0 {
            return Err(Error::new("no_words", "the text has no words"));
        }
        context.info(&format!("counted {words} words"));
        context.progress(1.0, Some(1.0), Some("counted"));
        let distinct = counts.len();
        let mut top: Vec<Entry> = counts.into_iter().map(|(word, count)| Entry { word, count }).collect();
        top.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.word.cmp(&other.word)));
        top.truncate(input.top);
        Outcome::value(&Output { words, distinct, top })
    }
}

pleat_function::export!(WordCount);
