//! A task as the control API shows it, and as `pleat tasks get` prints it.

use pleat_domain::Artifact;
use serde::Deserialize;
use serde_json::Value;

use crate::output::{Table, moment};
use crate::problem::TaskEnd;
use crate::progress::{blocks_text, value_text};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    pub id: String,
    /// None as long as its caller has been asked which one it wants.
    pub skill: Option<String>,
    pub version: Option<i64>,
    pub state: String,
    pub context_id: Option<String>,
    pub parent_task_id: Option<String>,
    /// Which attempt at which step of a run it is.
    pub step: Option<String>,
    pub run: Option<RunView>,
    #[serde(default)]
    pub caller: String,
    #[serde(default)]
    pub door: String,
    pub input: Option<Value>,
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
    pub failure: Option<FailureView>,
    pub ask: Option<AskView>,
    pub cpu_us: Option<i64>,
    pub wall_us: Option<i64>,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
}

/// What is kept with a run of a pipeline.
#[derive(Deserialize)]
pub struct RunView {
    #[serde(default)]
    pub skipped: Vec<String>,
}

#[derive(Deserialize)]
pub struct FailureView {
    pub reason: String,
    pub code: Option<String>,
    pub message: String,
    /// The stack, for the owner's eyes.
    pub detail: Option<String>,
}

#[derive(Deserialize)]
pub struct AskView {
    pub prompt: String,
}

impl TaskView {
    pub fn skill_and_version(&self) -> String {
        let skill = self.skill.as_deref().unwrap_or("-");
        self.version.map_or_else(|| skill.to_owned(), |version| format!("{skill} v{version}"))
    }

    pub fn took(&self) -> String {
        self.wall_us.filter(|_| self.ended()).map_or_else(|| "-".to_owned(), span)
    }

    pub fn ended(&self) -> bool {
        matches!(self.state.as_str(), "completed" | "failed" | "canceled" | "rejected")
    }

    pub fn ended_badly(&self) -> bool {
        self.ended() && self.state != "completed"
    }

    /// For a task that ended without a result.
    pub fn into_end(self) -> TaskEnd {
        let mut end = TaskEnd {
            skill: self.skill.unwrap_or_default(),
            task: Some(self.id),
            state: self.state,
            ..TaskEnd::default()
        };
        if let Some(failure) = self.failure {
            end.reason = Some(failure.reason);
            end.code = failure.code;
            end.message = failure.message;
            end.stack = failure.detail;
        }
        end
    }

    pub fn describe(&self) -> String {
        let mut text = self.facts().render();
        let mut section = |title: &str, body: &str| {
            let body = body.trim_end().replace('\n', "\n  ");
            text.push_str(&format!("\n\n{title}\n  {body}"));
        };
        if let Some(input) = &self.input {
            section("input", &format!("{input:#}"));
        }
        for artifact in &self.artifacts {
            section(&format!("artifact {}", artifact.name), &artifact_text(artifact));
        }
        if let Some(ask) = &self.ask {
            section("waits for an answer to", &ask.prompt);
        }
        if let Some(failure) = &self.failure {
            let code = failure.code.as_deref().map(|code| format!(", {code}")).unwrap_or_default();
            section("failure", &format!("{} ({}{code})", failure.message, failure.reason));
            if let Some(detail) = &failure.detail {
                section("stack", detail);
            }
        }
        text
    }

    fn facts(&self) -> Table {
        let mut facts = Table::of_facts();
        facts.fact("id", &self.id);
        facts.fact("skill", self.skill_and_version());
        facts.fact("state", &self.state);
        for (name, value) in [("context", &self.context_id), ("parent", &self.parent_task_id)] {
            value.iter().for_each(|value| facts.fact(name, value));
        }
        facts.fact("caller", format!("{} over {}", self.caller, self.door));
        facts.fact("created", moment(self.created_at.as_deref()));
        facts.fact("updated", moment(self.updated_at.as_deref()));
        if let (Some(wall), Some(cpu)) = (self.wall_us, self.cpu_us) {
            facts.fact("took", format!("{}, of it {} CPU", span(wall), span(cpu)));
        }
        facts
    }
}

fn artifact_text(artifact: &Artifact) -> String {
    match &artifact.value {
        Some(raw) => match serde_json::from_str::<Value>(raw.get()) {
            Ok(value) if !value.is_string() => format!("{value:#}"),
            _ => value_text(raw.get()),
        },
        None => blocks_text(&artifact.blocks),
    }
}

/// Microseconds as people read them.
fn span(microseconds: i64) -> String {
    match microseconds {
        ..1_000 => format!("{microseconds} µs"),
        1_000..1_000_000 => format!("{:.1} ms", microseconds as f64 / 1e3),
        _ => format!("{:.2} s", microseconds as f64 / 1e6),
    }
}
