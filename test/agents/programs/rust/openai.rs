//! async-openai: chat completions and responses.

use crate::tools::{STEPS, TOOLS, address, call_text, endless, model, prompt};
use crate::{Client, Failure, Text};
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::types::chat::{ChatCompletionMessageToolCalls, CreateChatCompletionRequest};
use async_openai::types::responses::{CreateResponse, InputItem, OutputItem, ResponseStreamEvent, Status};
use futures::StreamExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

type Openai = async_openai::Client<OpenAIConfig>;

fn client(key: &str) -> Openai {
    Openai::with_config(OpenAIConfig::new().with_api_base(address() + "/v1").with_api_key(key))
}

fn failure(error: OpenAIError) -> Failure {
    let status = match &error {
        OpenAIError::ApiError(refused) => refused.status_code.as_u16(),
        _ => 0,
    };
    Failure { status, message: error.to_string() }
}

/// A request of the library's own type.
fn request<R: DeserializeOwned>(fields: Value) -> Result<R, Failure> {
    serde_json::from_value(fields).map_err(Failure::of)
}

pub struct Chat(Openai);

impl Chat {
    pub fn new(key: &str) -> Self {
        Chat(client(key))
    }

    fn question() -> Vec<Value> {
        vec![json!({ "role": "user", "content": prompt() })]
    }
}

impl Client for Chat {
    async fn whole(&self) -> Text {
        let asked: CreateChatCompletionRequest = request(json!({ "model": model(), "messages": Chat::question() }))?;
        let answer = self.0.chat().create(asked).await.map_err(failure)?;
        answer.choices[0].message.content.clone().ok_or_else(|| Failure::of("no content"))
    }

    async fn streamed(&self) -> Text {
        let asked: CreateChatCompletionRequest =
            request(json!({ "model": model(), "messages": Chat::question(), "stream": true }))?;
        let mut chunks = self.0.chat().create_stream(asked).await.map_err(failure)?;
        let mut text = String::new();
        while let Some(chunk) = chunks.next().await {
            for choice in chunk.map_err(failure)?.choices {
                text += choice.delta.content.as_deref().unwrap_or_default();
            }
        }
        Ok(text)
    }

    async fn session(&self) -> Text {
        let tools: Vec<Value> = TOOLS
            .iter()
            .map(|one| json!({ "name": one.name, "description": one.description, "parameters": one.schema() }))
            .map(|function| json!({ "type": "function", "function": function }))
            .collect();
        let mut messages = Chat::question();
        for _ in 0..STEPS {
            let asked: CreateChatCompletionRequest =
                request(json!({ "model": model(), "messages": messages, "tools": tools }))?;
            let answer = self.0.chat().create(asked).await.map_err(failure)?;
            let message = &answer.choices[0].message;
            let calls = message.tool_calls.clone().unwrap_or_default();
            if calls.is_empty() {
                return message.content.clone().ok_or_else(|| Failure::of("no content"));
            }
            messages.push(serde_json::to_value(message).map_err(Failure::of)?);
            for one in calls {
                let ChatCompletionMessageToolCalls::Function(made) = one else { continue };
                let output = call_text(&made.function.name, &made.function.arguments)?;
                messages.push(json!({ "role": "tool", "tool_call_id": made.id, "content": output }));
            }
        }
        Err(endless())
    }
}

pub struct Responses(Openai);

impl Responses {
    pub fn new(key: &str) -> Self {
        Responses(client(key))
    }

    fn question() -> Vec<Value> {
        vec![json!({ "type": "message", "role": "user", "content": prompt() })]
    }

    async fn stream(&self, fields: Value) -> Result<async_openai::types::responses::Response, Failure> {
        let asked: CreateResponse = request(fields)?;
        let mut events = self.0.responses().create_stream(asked).await.map_err(failure)?;
        while let Some(event) = events.next().await {
            if let ResponseStreamEvent::ResponseCompleted(completed) = event.map_err(failure)? {
                return Ok(completed.response);
            }
        }
        Err(Failure::of("no whole answer"))
    }
}

impl Client for Responses {
    async fn whole(&self) -> Text {
        let asked: CreateResponse =
            request(json!({ "model": model(), "input": Responses::question(), "store": false }))?;
        let answer = self.0.responses().create(asked).await.map_err(failure)?;
        answer.output_text().ok_or_else(|| Failure::of("no text"))
    }

    async fn streamed(&self) -> Text {
        let fields = json!({ "model": model(), "input": Responses::question(), "store": false, "stream": true });
        self.stream(fields).await?.output_text().ok_or_else(|| Failure::of("no text"))
    }

    async fn session(&self) -> Text {
        let tools: Vec<Value> = TOOLS
            .iter()
            .map(|one| {
                json!({
                    "type": "function", "name": one.name, "description": one.description,
                    "parameters": one.schema(), "strict": true
                })
            })
            .collect();
        let mut items = Responses::question();
        for _ in 0..STEPS {
            let answer = self
                .stream(json!({
                    "model": model(), "input": items, "tools": tools, "store": false, "stream": true,
                    "reasoning": { "effort": "medium", "summary": "auto" },
                    "include": ["reasoning.encrypted_content"]
                }))
                .await?;
            if answer.status != Status::Completed {
                return Err(Failure::of("no whole answer"));
            }
            let mut outputs = vec![];
            for item in &answer.output {
                let again = InputItem::from(item.clone());
                items.push(serde_json::to_value(again).map_err(Failure::of)?);
                if let OutputItem::FunctionCall(made) = item {
                    let output = call_text(&made.name, &made.arguments)?;
                    outputs.push(json!({
                        "type": "function_call_output", "call_id": made.call_id, "output": output
                    }));
                }
            }
            if outputs.is_empty() {
                return answer.output_text().ok_or_else(|| Failure::of("no text"));
            }
            items.extend(outputs);
        }
        Err(endless())
    }
}
