//! Every route that is served, for the test that wants an isolation row for each of them.

/// A method and a path pattern, and the site it is on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    pub site: &'static str,
    pub method: String,
    pub path: String,
}

/// All routes: the tenant's from their table, the control API's from its own description.
pub fn all() -> Vec<Route> {
    let tenant = crate::tenant::routes().map(|(method, path)| ("tenant", (*method).to_owned(), (*path).to_owned()));
    let control = crate::control::described().into_iter().map(|(method, path)| ("control", method, path));
    tenant.chain(control).map(|(site, method, path)| Route { site, method, path }).collect()
}
