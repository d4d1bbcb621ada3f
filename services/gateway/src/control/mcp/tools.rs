//! What the operators' tools are called, take and need.

use pleat_domain::{AuditAction, Scope};
use serde_json::{Value, json};

pub(super) struct Tool {
    pub(super) name: &'static str,
    description: &'static str,
    /// The properties of its arguments, and those of them that must be there.
    properties: &'static str,
    required: &'static [&'static str],
    pub(super) scope: Scope,
    changes: bool,
}

const NAME: &str = r#"{"name": {"type": "string", "description": "The function's name"}}"#;

/// In the order of their names.
pub(super) const ALL: &[Tool] = &[
    Tool {
        name: "call_function",
        description: "Call a deployed function and get its task with the result",
        properties: r#"{"name": {"type": "string"}, "input": {"description": "Whatever the function takes"}}"#,
        required: &["name"],
        scope: Scope::Invoke,
        changes: true,
    },
    Tool {
        name: "delete_function",
        description: "Take a function off; its tasks and versions stay until they expire",
        properties: NAME,
        required: &["name"],
        scope: Scope::Deploy,
        changes: true,
    },
    Tool {
        name: "deploy_function",
        description: "Deploy a function from its source text: a file with `export default function (input, ctx) { … }` \
            and, beside it, constants such as `description`, `input` (JSON Schema) and `examples`. Capabilities that it \
            asks for are not granted here",
        properties: r#"{"name": {"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,62}$"}, "source": {"type": "string"},
            "language": {"enum": ["javascript", "typescript", "wat"], "default": "javascript"},
            "unlisted": {"type": "boolean", "description": "Keep it off the public card"}}"#,
        required: &["name", "source"],
        scope: Scope::Deploy,
        changes: true,
    },
    Tool {
        name: "deploy_pipeline",
        description: "Deploy a pipeline from its definition as YAML or JSON text: `name`, `steps` with `id`, `tool_name` and \
            `input_mapping`, and more. It is a draft unless `activate` is set; all faults are told at once, with their \
            places",
        properties: r#"{"definition": {"type": "string"},
            "activate": {"type": "boolean", "description": "Make it a skill that others can call"}}"#,
        required: &["definition"],
        scope: Scope::Deploy,
        changes: true,
    },
    Tool {
        name: "list_functions",
        description: "The functions that are deployed",
        properties: "{}",
        required: &[],
        scope: Scope::Read,
        changes: false,
    },
    Tool {
        name: "list_pipelines",
        description: "The pipelines with their states: draft, active or archived",
        properties: "{}",
        required: &[],
        scope: Scope::Read,
        changes: false,
    },
    Tool {
        name: "list_tasks",
        description: "The latest tasks, with their states, inputs and results",
        properties: r#"{"name": {"type": "string", "description": "Of this function only"},
            "state": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 100}}"#,
        required: &[],
        scope: Scope::Read,
        changes: false,
    },
    Tool {
        name: "read_logs",
        description: "The latest lines that functions have logged",
        properties: r#"{"name": {"type": "string", "description": "Of this function only"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 1000}}"#,
        required: &[],
        scope: Scope::Read,
        changes: false,
    },
    Tool {
        name: "rollback_function",
        description: "Back to a version, or to the one before the active one",
        properties: r#"{"name": {"type": "string"}, "version": {"type": "integer"}}"#,
        required: &["name"],
        scope: Scope::Deploy,
        changes: true,
    },
    Tool {
        name: "run_pipeline",
        description: "Run a pipeline, a draft too, and get its task with the output",
        properties: r#"{"name": {"type": "string"}, "input": {"description": "Whatever the pipeline takes"}}"#,
        required: &["name"],
        scope: Scope::Invoke,
        changes: true,
    },
    Tool {
        name: "show_function",
        description: "One function with its schemas, grants and versions",
        properties: NAME,
        required: &["name"],
        scope: Scope::Read,
        changes: false,
    },
];

impl Tool {
    /// How the audit log names what this tool changes; calls have a task as their record.
    pub(super) fn action(&self) -> Option<AuditAction> {
        match self.name {
            "deploy_function" => Some(AuditAction::FunctionDeploy),
            "rollback_function" => Some(AuditAction::FunctionRollback),
            "delete_function" => Some(AuditAction::FunctionDelete),
            "deploy_pipeline" => Some(AuditAction::PipelineDeploy),
            _ => None,
        }
    }

    pub(super) fn view(&self) -> Value {
        let properties: Value = serde_json::from_str(self.properties).unwrap_or_default();
        json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": {
                "type": "object", "properties": properties, "required": self.required, "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": !self.changes, "destructiveHint": self.name == "delete_function" },
        })
    }
}
