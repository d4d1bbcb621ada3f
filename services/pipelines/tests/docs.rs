//! The examples of docs/pipelines.md are pipelines, and its tables have every field.

use pleat_pipelines::{Catalog, limits, parse, read};

const PAGE: &str = include_str!("../../../docs/pipelines.md");

/// The blocks of the page that are fenced as this.
fn blocks(language: &str) -> Vec<&'static str> {
    let opening = format!("```{language}\n");
    PAGE.split(opening.as_str()).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

#[test]
fn every_example_is_a_pipeline() {
    let examples: Vec<&str> = blocks("yaml").into_iter().chain(blocks("json")).collect();
    assert!(examples.len() >= 8, "the search finds them: {}", examples.len());
    for example in examples {
        let definition = parse(example).unwrap_or_else(|faults| panic!("{example}\n{faults}"));
        let again = parse(&definition.canonical()).unwrap_or_else(|faults| panic!("{example}\n{faults}"));
        assert_eq!(again, definition, "the canonical form says the same");
    }
}

/// Against functions of these names that take anything, there is nothing wrong with them either.
#[test]
fn every_example_holds_together() {
    let inner = parse(blocks("yaml")[0]).unwrap();
    for example in blocks("yaml") {
        let definition = parse(example).unwrap();
        let mut catalog = Catalog::default();
        catalog.pipeline(&inner);
        for call in definition.calls() {
            if let pleat_pipelines::Call::Function(name) = call {
                catalog.function(name, None, None);
            }
        }
        let checked = read(example, &catalog).unwrap_or_else(|faults| panic!("{example}\n{faults}"));
        assert_eq!(checked.warnings, []);
    }
}

#[test]
fn both_ways_to_write_the_first_example_mean_the_same_steps() {
    let (yaml, json) = (parse(blocks("yaml")[0]).unwrap(), parse(blocks("json")[0]).unwrap());
    assert_eq!(yaml.stages, json.stages);
}

#[test]
fn the_numbers_of_the_page_are_the_limits() {
    let page = PAGE.replace('\n', " ");
    for said in [
        format!("1 to {} steps", limits::STEPS),
        format!("at most {} of them; the next", limits::GROUP),
        format!("at most {} of them, the first one included", limits::NESTING),
        format!("More than {} KiB, 20,000 values or {} levels", limits::TEXT / 1024, limits::DEPTH),
        format!(
            "| `concurrency` | {} | items that run at the same time; at most {}",
            limits::CONCURRENCY,
            limits::CONCURRENCY_MOST
        ),
        format!("| `max_items` | {} | more than these fail the step; at most 1,000", limits::ITEMS),
        format!("the first one included; at most {} |", limits::ATTEMPTS),
        format!("at most {} MiB", limits::MAPPED / (1024 * 1024)),
        format!("up to {} KiB", limits::DESCRIPTION / 1024),
    ] {
        assert!(page.contains(&said), "the page does not say: {said}");
    }
    assert_eq!((limits::VALUES, limits::ITEMS_MOST, limits::LOSSES), (20_000, 1_000, 3));
}
