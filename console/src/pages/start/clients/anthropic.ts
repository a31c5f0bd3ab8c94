import type { Client, Values } from './client.ts'
import { PROMPT, program } from './library.ts'
import { literal } from './quote.ts'

/** Anthropic SDKs. They append `/v1` to the base URL themselves. */
export const anthropic: Client = {
  ...{ id: 'anthropic', name: 'Anthropic SDK', group: 'libraries' },
  formats: ['messages'],
  languages: ['python', 'typescript'],
  write: values =>
    values.language === 'python'
      ? program('python', ['anthropic'], python(values))
      : program('typescript', ['@anthropic-ai/sdk'], typescript(values)),
}

const python = ({ base, secret, model }: Values): string => `from anthropic import Anthropic

client = Anthropic(
    base_url=${literal(base)},
    api_key=${literal(secret)},
)

message = client.messages.create(
    model=${literal(model)},
    max_tokens=1024,
    messages=[{"role": "user", "content": ${literal(PROMPT)}}],
)
print("".join(block.text for block in message.content if block.type == "text"))
`

const typescript = ({ base, secret, model }: Values): string => `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  baseURL: ${literal(base)},
  apiKey: ${literal(secret)},
});

const message = await client.messages.create({
  model: ${literal(model)},
  max_tokens: 1024,
  messages: [{ role: "user", content: ${literal(PROMPT)} }],
});
console.log(message.content.map(block => (block.type === "text" ? block.text : "")).join(""));
`
