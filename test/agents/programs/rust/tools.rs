//! What every client has in common: what it is told, and two tools on files.

use crate::Failure;
use serde_json::{Value, json};

/// More than any session here takes.
pub const STEPS: usize = 8;

pub fn set(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}
pub fn address() -> String {
    set("IL_ADDRESS")
}
pub fn key() -> String {
    set("IL_KEY")
}
pub fn model() -> String {
    set("IL_MODEL")
}
pub fn prompt() -> String {
    set("IL_PROMPT")
}
/// How Claude is asked to think.
pub fn thinking() -> Value {
    serde_json::from_str(&set("IL_THINKING")).unwrap_or_default()
}

pub struct Tool {
    pub name: &'static str,
    pub description: &'static str,
    parameters: &'static [&'static str],
}

pub const TOOLS: [Tool; 2] = [
    Tool { name: "read_file", description: "Read a file.", parameters: &["path"] },
    Tool { name: "write_file", description: "Write a file.", parameters: &["path", "content"] },
];

impl Tool {
    /// The JSON Schema of the arguments.
    pub fn schema(&self) -> Value {
        let properties: serde_json::Map<String, Value> =
            self.parameters.iter().map(|name| (name.to_string(), json!({ "type": "string" }))).collect();
        json!({
            "type": "object", "properties": properties, "required": self.parameters, "additionalProperties": false
        })
    }
}

/// Runs a tool.
pub fn call(name: &str, given: &Value) -> Result<String, Failure> {
    let text = |field: &str| given[field].as_str().ok_or_else(|| Failure::of(format!("no {field} for {name}")));
    match name {
        "read_file" => std::fs::read_to_string(text("path")?).map_err(Failure::of),
        "write_file" => {
            let content = text("content")?;
            std::fs::write(text("path")?, content).map_err(Failure::of)?;
            Ok(format!("wrote {} characters", content.chars().count()))
        }
        _ => Err(Failure::of(format!("no tool {name}"))),
    }
}

/// The same for arguments as JSON.
pub fn call_text(name: &str, arguments: &str) -> Result<String, Failure> {
    call(name, &serde_json::from_str(arguments).map_err(Failure::of)?)
}

pub fn endless() -> Failure {
    Failure::of("the session does not end")
}
