import type { Client, Values } from './client.ts'
import { PROMPT, program } from './library.ts'
import { literal } from './quote.ts'

/** Google Gen AI SDKs. They append the version to the base URL themselves. */
export const google: Client = {
  ...{ id: 'google', name: 'Google Gen AI SDK', group: 'libraries' },
  formats: ['contents'],
  languages: ['python', 'typescript'],
  write: values =>
    values.language === 'python'
      ? program('python', ['google-genai'], python(values))
      : program('typescript', ['@google/genai'], typescript(values)),
}

const python = ({ base, secret, model }: Values): string => `from google import genai
from google.genai import types

client = genai.Client(
    api_key=${literal(secret)},
    http_options=types.HttpOptions(base_url=${literal(base)}),
)

response = client.models.generate_content(
    model=${literal(model)},
    contents=${literal(PROMPT)},
)
print(response.text)
`

const typescript = ({ base, secret, model }: Values): string => `import { GoogleGenAI } from "@google/genai";

const ai = new GoogleGenAI({
  apiKey: ${literal(secret)},
  httpOptions: { baseUrl: ${literal(base)} },
});

const response = await ai.models.generateContent({
  model: ${literal(model)},
  contents: ${literal(PROMPT)},
});
console.log(response.text);
`
