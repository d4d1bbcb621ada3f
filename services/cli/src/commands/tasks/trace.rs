//! `pleat tasks trace`: a task as the tree of calls that came of it, a run as the tree of its steps.

use anyhow::Result;
use pleat_domain::TaskId;
use serde::Deserialize;

use super::TaskView;
use crate::commands::Context;
use crate::output::Table;
use crate::target::Role;

#[derive(Deserialize)]
struct Trace {
    /// The task itself first.
    tasks: Vec<TaskView>,
    #[serde(default)]
    findings: Vec<Finding>,
    #[serde(default)]
    more: bool,
}

/// What a guardrail found in one of them.
#[derive(Deserialize)]
struct Finding {
    task: Option<String>,
    side: String,
    rule: String,
    action: String,
}

pub async fn run(id: TaskId, context: &Context<'_>) -> Result<()> {
    let client = context.connect(Role::Deployer)?;
    let answer = client.get(client.in_tenant(&["tasks", &id.to_string(), "trace"]).await?).await?;
    context.show(answer, |Trace { tasks, findings, more }| {
        if more {
            context
                .output
                .note("there are more calls or findings than a trace shows; trace one of the calls for the rest");
        }
        let mut table = Table::new(&["SKILL", "STATE", "TOOK", "ID", "GUARDRAILS"]);
        if let Some(root) = tasks.first() {
            let guard = |task: &str| {
                let of = findings.iter().filter(|finding| finding.task.as_deref() == Some(task));
                let mut words: Vec<String> =
                    of.map(|finding| format!("{} {} {}", finding.action, finding.side, finding.rule)).collect();
                words.dedup();
                words.join(", ")
            };
            add(root, 0, &tasks, &guard, &mut table);
        }
        table.render()
    })
}

/// The task and, below it, those that name it as their parent. A parent is older than its children, so that this ends.
fn add(task: &TaskView, depth: usize, all: &[TaskView], guard: &dyn Fn(&str) -> String, table: &mut Table) {
    let indent = "  ".repeat(depth);
    let label = task.step.as_deref().map(|label| format!("{label} ")).unwrap_or_default();
    let skill = format!("{indent}{label}{}", task.skill_and_version());
    table.row([skill, task.state.clone(), task.took(), task.id.clone(), guard(&task.id)]);
    for child in all.iter().filter(|child| child.parent_task_id.as_deref() == Some(&task.id)) {
        add(child, depth + 1, all, guard, table);
    }
    for step in task.run.iter().flat_map(|run| &run.skipped) {
        table.row([format!("{indent}  {step}"), "skipped".to_owned(), "-".to_owned(), "-".to_owned(), String::new()]);
    }
}
