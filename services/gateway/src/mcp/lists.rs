//! What there is: tools, resources, templates and prompts, exactly those that this caller may use, a page at a time.

use pleat_engine::{Callable, Catalog};
use pleat_mcp::{RpcError, params, prompt, resource, tool};
use serde_json::{Map, Value};

use super::exchange::{Exchange, Reply};
use crate::control::mcp as operators;
use crate::problem::Problem;

/// Entries of one page.
const PAGE: usize = 100;
const CURSOR: &str = "mcp-cursor";

pub(super) async fn tools(exchange: &Exchange) -> Result<Reply, Problem> {
    if exchange.peer.is_control() {
        return page(exchange, "tools", operators::tools(&exchange.peer.principal));
    }
    let catalog = exchange.engine().catalog(exchange.tenant()).await?;
    page(exchange, "tools", all_tools(exchange, &catalog))
}

/// In the order of their names, which is the catalog's.
pub(super) fn all_tools(exchange: &Exchange, catalog: &Catalog) -> Vec<Value> {
    of_each(exchange, catalog, |callable| {
        let skill = callable.skill();
        vec![tool::view(&skill.tool_name(), &skill.manifest, exchange.version)]
    })
}

pub(super) async fn resources(exchange: &Exchange) -> Result<Reply, Problem> {
    let catalog = exchange.engine().catalog(exchange.tenant()).await?;
    page(exchange, "resources", all_resources(exchange, &catalog))
}

pub(super) fn all_resources(exchange: &Exchange, catalog: &Catalog) -> Vec<Value> {
    of_each(exchange, catalog, |callable| {
        let skill = callable.skill();
        resource::listed(&skill.tool_name(), &skill.manifest)
    })
}

pub(super) async fn templates(exchange: &Exchange) -> Result<Reply, Problem> {
    let catalog = exchange.engine().catalog(exchange.tenant()).await?;
    let mut all = vec![resource::task_template()];
    all.extend(of_each(exchange, &catalog, |callable| resource::templates(&callable.skill().manifest)));
    page(exchange, "resourceTemplates", all)
}

pub(super) async fn prompts(exchange: &Exchange) -> Result<Reply, Problem> {
    let catalog = exchange.engine().catalog(exchange.tenant()).await?;
    page(exchange, "prompts", all_prompts(exchange, &catalog))
}

pub(super) fn all_prompts(exchange: &Exchange, catalog: &Catalog) -> Vec<Value> {
    of_each(exchange, catalog, |callable| {
        let skill = callable.skill();
        prompt::listed(&skill.tool_name(), &skill.manifest)
    })
}

fn of_each(exchange: &Exchange, catalog: &Catalog, entries: impl Fn(&Callable) -> Vec<Value>) -> Vec<Value> {
    catalog.callable(&exchange.peer.principal).flat_map(|callable| entries(&callable)).collect()
}

/// The page that a cursor asks for. A cursor opens for the caller and the list that it was made for.
fn page(exchange: &Exchange, name: &str, all: Vec<Value>) -> Result<Reply, Problem> {
    let asked: params::Page = exchange.params()?;
    let (engine, tenant, principal) = (exchange.engine(), exchange.tenant(), &exchange.peer.principal);
    let purpose = format!("{CURSOR}/{name}");
    let from: usize = match &asked.cursor {
        None => 0,
        Some(cursor) => {
            let opened = engine.unseal(tenant, principal, &purpose, cursor).and_then(|text| text.parse().ok());
            opened.ok_or_else(|| RpcError::invalid_params("`cursor` is not one that this list has given out"))?
        }
    };
    let total = all.len();
    let entries: Vec<Value> = all.into_iter().skip(from).take(PAGE).collect();
    let next = from + entries.len();
    let mut result = Map::from_iter([(name.to_owned(), Value::from(entries))]);
    if next < total {
        let cursor = engine.seal(tenant, principal, &purpose, &next.to_string())?;
        result.insert("nextCursor".to_owned(), Value::from(cursor));
    }
    Ok(exchange.cacheable(result))
}
