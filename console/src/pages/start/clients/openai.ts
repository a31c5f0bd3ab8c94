import type { Client, Values } from './client.ts'
import { PROMPT, program } from './library.ts'
import { literal } from './quote.ts'

/** OpenAI SDKs. */
export const openai: Client = {
  ...{ id: 'openai', name: 'OpenAI SDK', group: 'libraries' },
  formats: ['responses', 'chat'],
  languages: ['python', 'typescript'],
  write: values => program(values.language, ['openai'], { python, typescript }[values.language](values)),
}

const python = ({ base, secret, model, format }: Values): string => `from openai import OpenAI

client = OpenAI(
    base_url=${literal(`${base}/v1`)},
    api_key=${literal(secret)},
)

${format === 'chat' ? pythonChat(model) : pythonResponse(model)}`

const pythonResponse = (model: string): string => `response = client.responses.create(
    model=${literal(model)},
    input=${literal(PROMPT)},
)
print(response.output_text)
`

const pythonChat = (model: string): string => `completion = client.chat.completions.create(
    model=${literal(model)},
    messages=[{"role": "user", "content": ${literal(PROMPT)}}],
)
print(completion.choices[0].message.content)
`

const typescript = ({ base, secret, model, format }: Values): string => `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: ${literal(`${base}/v1`)},
  apiKey: ${literal(secret)},
});

${format === 'chat' ? scriptChat(model) : scriptResponse(model)}`

const scriptResponse = (model: string): string => `const response = await client.responses.create({
  model: ${literal(model)},
  input: ${literal(PROMPT)},
});
console.log(response.output_text);
`

const scriptChat = (model: string): string => `const completion = await client.chat.completions.create({
  model: ${literal(model)},
  messages: [{ role: "user", content: ${literal(PROMPT)} }],
});
console.log(completion.choices[0].message.content);
`
