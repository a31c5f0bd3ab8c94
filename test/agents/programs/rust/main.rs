//! Libraries in Rust: async-openai, genai and rig. Sessions with tools, plain questions, refusals.

mod genai_chat;
mod openai;
mod rig;
mod tools;

use tools::{key, set};

/// What went wrong, with the HTTP status that the library's own error names.
#[derive(Debug)]
pub struct Failure {
    pub status: u16,
    pub message: String,
}

impl Failure {
    pub fn of(message: impl ToString) -> Self {
        Failure { status: 0, message: message.to_string() }
    }
}

pub type Text = Result<String, Failure>;

/// One library with one format.
#[allow(async_fn_in_trait)]
pub trait Client {
    /// The text of the answer to a plain question, read as the library's documentation reads it.
    async fn whole(&self) -> Text;
    /// The same of a streamed answer.
    async fn streamed(&self) -> Text;
    /// Runs tools until the model has an answer.
    async fn session(&self) -> Text;
}

async fn play<C: Client>(made: impl Fn(&str) -> C) -> Result<(), Failure> {
    match set("IL_SCENARIO").as_str() {
        "plain" => {
            println!("whole: {}", made(&key()).whole().await?);
            println!("streamed: {}", made(&key()).streamed().await?);
        }
        "errors" => {
            for (name, key) in [("key", key() + "-wrong"), ("rate", key())] {
                let refused = made(&key).whole().await.err();
                println!("{name}: {}", refused.map_or(200, |failure| failure.status));
            }
        }
        _ => println!("{}", made(&key()).session().await?),
    }
    Ok(())
}

#[tokio::main]
async fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let played = match (given[0].as_str(), given[1].as_str()) {
        ("async-openai", "chat") => play(openai::Chat::new).await,
        ("async-openai", "responses") => play(openai::Responses::new).await,
        ("genai", format) => play(|key| genai_chat::Genai::new(format, key)).await,
        ("rig", "chat") => play(rig::chat).await,
        ("rig", "messages") => play(rig::messages).await,
        ("rig", "contents") => play(rig::contents).await,
        _ => Err(Failure::of(format!("no client {}", given.join(" ")))),
    };
    if let Err(failure) = played {
        eprintln!("Error: {}", failure.message.replace('\n', " "));
        std::process::exit(1);
    }
}
