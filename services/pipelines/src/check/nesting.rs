//! Pipelines that call pipelines: never in a circle, and not too deep, counted with those that call this one.

use std::collections::BTreeMap;

use pleat_domain::SkillName;

use crate::catalog::{Catalog, pipeline};
use crate::document::Node;
use crate::fault::{Report, below};
use crate::limits;
use crate::reading::Draft;

pub(super) fn check(root: &Node, draft: &Draft, catalog: &Catalog<'_>, report: &mut Report) {
    let Some(own) = &draft.name else { return };
    let mut walk = Walk { catalog, own, heights: BTreeMap::new() };
    let above = walk.above();
    for step in draft.steps() {
        let Some(name) = step.call.as_ref().and_then(pipeline) else { continue };
        let place = below(&step.pointer, "tool_name");
        match walk.height(name, &mut vec![own]) {
            Err(circle) => {
                let circle: Vec<String> = circle.iter().map(|name| format!("`{name}`")).collect();
                let message = format!("the pipelines call each other in a circle: {}", circle.join(" → "));
                report.at(root, &place, message, "let one of them call functions only");
            }
            Ok(height) if above + 1 + height > limits::NESTING => {
                let with = if above > 0 { ", counted with the pipelines that call this one" } else { "" };
                let deep = above + 1 + height;
                let message =
                    format!("pipelines within pipelines are {deep} deep{with}; the most is {}", limits::NESTING);
                report.at(root, &place, message, "let it call the inner steps itself");
            }
            Ok(_) => {}
        }
    }
}

struct Walk<'a> {
    catalog: &'a Catalog<'a>,
    /// The pipeline that is looked at: what the catalog says of it is about to change.
    own: &'a SkillName,
    heights: BTreeMap<&'a SkillName, usize>,
}

impl<'a> Walk<'a> {
    /// How many pipelines a call of this one leads through; or the circle it is in.
    fn height(&mut self, name: &'a SkillName, path: &mut Vec<&'a SkillName>) -> Result<usize, Vec<String>> {
        if let Some(start) = path.iter().position(|earlier| *earlier == name) {
            let circle = path.iter().skip(start).copied().chain([name]);
            return Err(circle.map(ToString::to_string).collect());
        }
        if let Some(height) = self.heights.get(name) {
            return Ok(*height);
        }
        path.push(name);
        let mut height = 1;
        for inner in self.catalog.calls_of(name) {
            height = height.max(1 + self.height(inner, path)?);
        }
        path.pop();
        self.heights.insert(name, height);
        Ok(height)
    }

    /// The longest way down to this pipeline. A circle is reported where it is closed.
    fn above(&self) -> usize {
        let mut level = vec![self.own];
        for above in 0..=limits::NESTING {
            let callers = self.catalog.pipelines().filter(|caller| {
                caller.name != *self.own
                    && caller.steps().filter_map(|step| pipeline(&step.call)).any(|name| level.contains(&name))
            });
            level = callers.map(|caller| &caller.name).collect();
            if level.is_empty() {
                return above;
            }
        }
        0
    }
}
