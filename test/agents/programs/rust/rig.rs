//! rig: one interface for the formats of OpenAI, Anthropic and Google.

use crate::tools::{STEPS, TOOLS, address, call, endless, model, prompt, thinking};
use crate::{Client, Failure, Text};
use rig_core::completion::{CompletionRequest, ToolDefinition};
use rig_core::message::{Message, ToolName, ToolResult, ToolResultContent};
use rig_core::operation::Completion;
use rig_core::providers::{anthropic::AnthropicConfig, gemini::GeminiConfig, openai::OpenAIConfig};
use rig_core::{DynModel, ProviderError};
use serde_json::{Value, json};

pub struct Rig {
    model: DynModel<Completion>,
    /// How a session asks for reasoning, in the format's own fields.
    reasoning: Value,
    /// Whether reasoning that nobody asked for is a fault: chat completions have it where their upstream has.
    is_strict: bool,
}

pub fn chat(key: &str) -> Rig {
    let client = OpenAIConfig::new(key).with_base_url(address() + "/v1").client();
    Rig { model: client.chat(model()).erase(), reasoning: json!({}), is_strict: false }
}

pub fn messages(key: &str) -> Rig {
    let client = AnthropicConfig::new(key).with_base_url(address()).client();
    Rig { model: client.completion(model()).erase(), reasoning: json!({ "thinking": thinking() }), is_strict: true }
}

pub fn contents(key: &str) -> Rig {
    let client = GeminiConfig::new(key).with_base_url(address()).client();
    let thoughts = json!({ "generationConfig": { "thinkingConfig": { "includeThoughts": true } } });
    Rig { model: client.completion(model()).erase(), reasoning: thoughts, is_strict: true }
}

fn failure(error: ProviderError) -> Failure {
    let status = error.provider_response_status().map_or(0, |status| status.as_u16());
    Failure { status, message: error.to_string() }
}

fn question() -> CompletionRequest {
    CompletionRequest::new(prompt()).max_tokens(8000)
}

fn declared() -> Result<Vec<ToolDefinition>, Failure> {
    TOOLS
        .iter()
        .map(|one| {
            let name = ToolName::new(one.name).map_err(Failure::of)?;
            Ok(ToolDefinition::new(name, one.description, one.schema()))
        })
        .collect()
}

impl Rig {
    fn plain_text(&self, answer: rig_core::completion::CompletionResponse) -> Text {
        match answer.reasoning().as_str() {
            reasoning if self.is_strict && !reasoning.is_empty() => {
                Err(Failure::of(format!("reasoning nobody asked for: {reasoning}")))
            }
            _ => Ok(answer.text()),
        }
    }
}

impl Client for Rig {
    async fn whole(&self) -> Text {
        self.plain_text(self.model.call(question()).await.map_err(failure)?)
    }

    async fn streamed(&self) -> Text {
        let stream = self.model.stream(question()).map_err(failure)?;
        self.plain_text(stream.finish().await.map_err(failure)?)
    }

    async fn session(&self) -> Text {
        let mut history = vec![Message::user(prompt())];
        for _ in 0..STEPS {
            let last = history.pop().ok_or_else(endless)?;
            let mut request = CompletionRequest::new(last.clone()).max_tokens(8000).tools(declared()?);
            request = request.messages(history.clone()).additional_params(self.reasoning.clone());
            history.push(last);
            let stream = self.model.stream(request).map_err(failure)?;
            let answer = stream.finish().await.map_err(failure)?;
            let mut results = vec![];
            for one in answer.tool_calls() {
                let given = Value::Object(one.function.arguments.clone());
                results.push(ToolResult {
                    call: one.id.clone(),
                    name: one.function.name.clone(),
                    content: vec![ToolResultContent::text(call(one.function.name.as_str(), &given)?)],
                    is_error: false,
                });
            }
            if results.is_empty() {
                return Ok(answer.text());
            }
            history.extend(answer.message());
            history.push(Message::tool_results(results));
        }
        Err(endless())
    }
}
