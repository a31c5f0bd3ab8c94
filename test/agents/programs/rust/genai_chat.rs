//! genai: one interface for the formats of OpenAI, Anthropic and Google.

use crate::tools::{STEPS, TOOLS, address, call, endless, model, prompt, thinking};
use crate::{Client, Failure, Text};
use futures::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, MessageContent, ReasoningEffort, StreamEnd, Tool,
    ToolCall, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{ModelIden, ServiceTarget};
use serde_json::json;

pub struct Genai {
    client: genai::Client,
    kind: AdapterKind,
}

fn failure(error: genai::Error) -> Failure {
    Failure { status: error.status().map_or(0, |status| status.as_u16()), message: error.to_string() }
}

impl Genai {
    pub fn new(format: &str, key: &str) -> Self {
        let (kind, version) = match format {
            "messages" => (AdapterKind::Anthropic, "v1"),
            "contents" => (AdapterKind::Gemini, "v1beta"),
            _ => (AdapterKind::OpenAI, "v1"),
        };
        let endpoint = Endpoint::from_owned(format!("{}/{version}/", address()));
        let auth = AuthData::from_single(key);
        let client = genai::Client::builder()
            .with_service_target_resolver_fn(move |target: ServiceTarget| {
                let model = ModelIden::new(kind, target.model.model_name);
                Ok(ServiceTarget { endpoint: endpoint.clone(), auth: auth.clone(), model })
            })
            .build()
            .expect("a client");
        Genai { client, kind }
    }

    async fn stream(&self, request: ChatRequest, options: &ChatOptions) -> Result<StreamEnd, Failure> {
        let mut answer =
            self.client.exec_chat_stream(model(), request, Some(options)).await.map_err(failure)?.stream;
        while let Some(event) = answer.next().await {
            if let ChatStreamEvent::End(end) = event.map_err(failure)? {
                return Ok(end);
            }
        }
        Err(Failure::of("no whole answer"))
    }
}

fn question() -> ChatRequest {
    ChatRequest::new(vec![ChatMessage::user(prompt())])
}

/// Captures everything, so that the end of a stream has it.
fn capturing() -> ChatOptions {
    ChatOptions::default().with_capture_content(true).with_capture_tool_calls(true).with_capture_reasoning_content(true)
}

/// The text of an answer to somebody who did not ask for reasoning; signatures may stand beside it.
fn only_text(content: MessageContent) -> Text {
    match content.texts().as_slice() {
        [text] if !content.contains_reasoning_content() => Ok(text.to_string()),
        _ => Err(Failure::of(format!("more than a text: {content:?}"))),
    }
}

impl Client for Genai {
    async fn whole(&self) -> Text {
        let answer = self.client.exec_chat(model(), question(), None).await.map_err(failure)?;
        only_text(answer.content)
    }

    async fn streamed(&self) -> Text {
        let end = self.stream(question(), &capturing()).await?;
        only_text(end.captured_content.unwrap_or_default())
    }

    async fn session(&self) -> Text {
        let tools: Vec<Tool> = TOOLS
            .iter()
            .map(|one| Tool::new(one.name).with_description(one.description).with_schema(one.schema()))
            .collect();
        // It knows by its name how a model thinks, and an own name is none that it knows.
        let options = match self.kind {
            AdapterKind::Anthropic => capturing().with_extra_body(json!({ "thinking": thinking() })),
            _ => capturing().with_reasoning_effort(ReasoningEffort::Medium),
        };
        let mut request = question().with_tools(tools);
        for _ in 0..STEPS {
            let end = self.stream(request.clone(), &options).await?;
            let content = end.captured_content.unwrap_or_default();
            let calls: Vec<ToolCall> = content.tool_calls().into_iter().cloned().collect();
            if calls.is_empty() {
                return content.into_joined_texts().ok_or_else(|| Failure::of("no text"));
            }
            let said = ChatMessage::assistant(content).with_reasoning_content(end.captured_reasoning_content);
            request = request.append_message(said);
            for one in calls {
                let output = call(&one.fn_name, &one.fn_arguments)?;
                request = request.append_message(ToolResponse::from_tool_call(&one, output));
            }
        }
        Err(endless())
    }
}
