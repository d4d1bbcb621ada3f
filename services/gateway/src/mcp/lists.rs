//! What there is: tools, resources, templates and prompts, exactly those that this caller may use, a page at a time.

use pleat_engine::{Callable, Catalog};
use pleat_mcp::{RpcError, params, prompt, resource, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::exchange::{Exchange, Reply};
use crate::control::mcp as operators;
use crate::problem::Problem;

/// Entries of one page.
const PAGE: usize = 100;
const CURSOR: &str = "mcp-cursor";

/// What is listed, with the name of whose it is.
pub(super) type Entry = (String, Value);

pub(super) async fn tools(exchange: &Exchange) -> Result<Reply, Problem> {
    if exchange.peer.is_control() {
        let tools = operators::tools(&exchange.peer.principal).into_iter();
        return page(exchange, "tools", tools.map(|tool| (name_of(&tool), tool)).collect());
    }
    let catalog = exchange.engine().catalog(exchange.tenant()).await?;
    page(exchange, "tools", all_tools(exchange, &catalog))
}

/// In the order of their names, which is the catalog's.
pub(super) fn all_tools(exchange: &Exchange, catalog: &Catalog) -> Vec<Entry> {
    of_each(exchange, catalog, |callable| {
        let skill = callable.skill();
        vec![tool::view(&skill.tool_name(), &skill.manifest, exchange.version)]
    })
}

pub(super) async fn resources(exchange: &Exchange) -> Result<Reply, Problem> {
    let catalog = exchange.engine().catalog(exchange.tenant()).await?;
    page(exchange, "resources", all_resources(exchange, &catalog))
}

pub(super) fn all_resources(exchange: &Exchange, catalog: &Catalog) -> Vec<Entry> {
    of_each(exchange, catalog, |callable| {
        let skill = callable.skill();
        resource::listed(&skill.tool_name(), &skill.manifest)
    })
}

pub(super) async fn templates(exchange: &Exchange) -> Result<Reply, Problem> {
    let catalog = exchange.engine().catalog(exchange.tenant()).await?;
    let mut all = vec![(String::new(), resource::task_template())];
    all.extend(of_each(exchange, &catalog, |callable| resource::templates(&callable.skill().manifest)));
    page(exchange, "resourceTemplates", all)
}

pub(super) async fn prompts(exchange: &Exchange) -> Result<Reply, Problem> {
    let catalog = exchange.engine().catalog(exchange.tenant()).await?;
    page(exchange, "prompts", all_prompts(exchange, &catalog))
}

pub(super) fn all_prompts(exchange: &Exchange, catalog: &Catalog) -> Vec<Entry> {
    of_each(exchange, catalog, |callable| {
        let skill = callable.skill();
        prompt::listed(&skill.tool_name(), &skill.manifest)
    })
}

/// What is listed of one skill comes together, and the skills in the order of their names.
fn of_each(exchange: &Exchange, catalog: &Catalog, entries: impl Fn(&Callable) -> Vec<Value>) -> Vec<Entry> {
    let of_one = |callable: Callable| {
        let named = entries(&callable).into_iter().map(move |entry| (callable.skill().name.to_string(), entry));
        named.collect::<Vec<_>>()
    };
    catalog.callable(&exchange.peer.principal).flat_map(of_one).collect()
}

fn name_of(entry: &Value) -> String {
    entry.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The last entry that was shown: whose it is, and how many of these were shown. What is deleted or deployed between two
/// pages shifts nothing.
#[derive(Serialize, Deserialize)]
struct Shown(String, usize);

/// The page that a cursor asks for. A cursor opens for the caller and the list that it was made for.
fn page(exchange: &Exchange, name: &str, all: Vec<Entry>) -> Result<Reply, Problem> {
    let asked: params::Page = exchange.params()?;
    let (engine, tenant, principal) = (exchange.engine(), exchange.tenant(), &exchange.peer.principal);
    let purpose = format!("{CURSOR}/{name}");
    let after: Option<Shown> = match &asked.cursor {
        None => None,
        Some(cursor) => {
            let text = engine.unseal(tenant, principal, &purpose, cursor);
            let shown = text.and_then(|text| serde_json::from_str(&text).ok());
            Some(shown.ok_or_else(|| RpcError::invalid_params("`cursor` is not one that this list has given out"))?)
        }
    };
    let (entries, next) = portion(all, after);
    let mut result = Map::from_iter([(name.to_owned(), Value::from(entries))]);
    if let Some(next) = next {
        let text = serde_json::to_string(&next).unwrap_or_default();
        result.insert("nextCursor".to_owned(), Value::from(engine.seal(tenant, principal, &purpose, &text)?));
    }
    Ok(exchange.cacheable(result))
}

/// What follows, and where it stops if that is not the end.
fn portion(all: Vec<Entry>, after: Option<Shown>) -> (Vec<Value>, Option<Shown>) {
    let mut left = all.into_iter().peekable();
    let mut shown = Shown(String::new(), 0);
    if let Some(Shown(name, count)) = after {
        while left.next_if(|(of, _)| *of < name).is_some() {}
        let mut passed = 0;
        while passed < count && left.next_if(|(of, _)| *of == name).is_some() {
            passed += 1;
        }
        shown = Shown(name, count);
    }
    let mut entries = Vec::new();
    while let Some((of, entry)) = left.next_if(|_| entries.len() < PAGE) {
        shown = if shown.0 == of { Shown(of, shown.1 + 1) } else { Shown(of, 1) };
        entries.push(entry);
    }
    let more = left.peek().is_some();
    (entries, more.then_some(shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(names: impl IntoIterator<Item = (&'static str, u32)>) -> Vec<Entry> {
        names
            .into_iter()
            .flat_map(|(name, count)| (0..count).map(move |_| (name.to_owned(), Value::from(name))))
            .collect()
    }

    #[test]
    fn pages_follow_each_other_and_end() {
        let (first, next) = portion(entries([("a", 60), ("b", 60), ("c", 1)]), None);
        assert_eq!((first.len(), first.last()), (100, Some(&Value::from("b"))));
        let (second, end) = portion(entries([("a", 60), ("b", 60), ("c", 1)]), next);
        assert_eq!((second.len(), second.last(), end.is_none()), (21, Some(&Value::from("c")), true));
    }

    #[test]
    fn what_is_taken_away_between_two_pages_hides_nothing() {
        let (_, next) = portion(entries([("a", 50), ("b", 50), ("c", 50)]), None);
        let (second, _) = portion(entries([("b", 50), ("c", 50)]), next);
        assert_eq!(second.len(), 50, "all of the last one");
        let (_, next) = portion(entries([("a", 50), ("b", 60), ("c", 50)]), None);
        let (second, _) = portion(entries([("a", 50), ("c", 50)]), next);
        assert_eq!((second.len(), second.first()), (50, Some(&Value::from("c"))));
    }
}
