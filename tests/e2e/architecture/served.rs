//! The list of routes that the isolation table is held against is itself complete.

use std::collections::BTreeSet;

use super::{files, text};

/// The routes of the source, in whichever file: `.route("path", get(..).post(..))` and what `routes!` names.
#[test]
fn the_list_of_routes_has_every_route_of_the_source() {
    let listed = pleat_gateway::routes::all();
    let listed: BTreeSet<(&str, &str)> =
        listed.iter().map(|route| (route.method.as_str(), route.path.as_str())).collect();
    let (mut by_hand, mut described) = (0, 0);
    for path in files(&["services/gateway/src"], ".rs") {
        let text = text(&path);
        for call in text.split(".route(").skip(1) {
            let pattern =
                call.split('"').nth(1).unwrap_or_else(|| panic!("{}: a route without a path", path.display()));
            let methods = call.split("\n        .").next().unwrap_or_default();
            for (word, method) in
                [("get(", "GET"), ("post(", "POST"), ("put(", "PUT"), ("patch(", "PATCH"), ("delete(", "DELETE")]
            {
                if methods.contains(word) {
                    // A route for every path below it stands for those that are listed below it.
                    let below = pattern.strip_suffix("{*path}");
                    let is_meant = |path: &str| below.map_or(path == pattern, |below| path.starts_with(below));
                    let meant = listed.iter().filter(|(of, path)| *of == method && is_meant(path)).count();
                    assert!(meant > 0, "{method} {pattern} is not in the list of routes");
                    by_hand += meant;
                }
            }
            assert!(!methods.contains("any("), "{pattern} takes any method: name those it takes");
        }
        described += text.matches("#[utoipa::path(").count();
    }
    assert!(by_hand > 8, "the search finds what is there");
    assert_eq!(by_hand + described, pleat_gateway::routes::all().len(), "every handler is routed, and once");
}
