import type { Client, Format } from './client.ts'
import { PROMPT, program } from './library.ts'
import { literal } from './quote.ts'

interface Provider {
  readonly npm: string
  readonly create: string
  /** Path that the base URL ends with. */
  readonly version: string
  /** Settings other than address and key. */
  readonly more?: string
}

/** Package for each format. */
const PROVIDERS: { readonly [F in Format]: Provider } = {
  responses: { npm: '@ai-sdk/openai', create: 'createOpenAI', version: '/v1' },
  chat: {
    ...{ npm: '@ai-sdk/openai-compatible', create: 'createOpenAICompatible', version: '/v1' },
    more: '  name: "interlingua",\n',
  },
  messages: { npm: '@ai-sdk/anthropic', create: 'createAnthropic', version: '/v1' },
  contents: { npm: '@ai-sdk/google', create: 'createGoogleGenerativeAI', version: '/v1beta' },
}

/** Vercel AI SDK, with one provider package per format. */
export const aiSdk: Client = {
  ...{ id: 'ai-sdk', name: 'AI SDK', group: 'libraries' },
  formats: ['responses', 'chat', 'messages', 'contents'],
  languages: ['typescript'],
  write: ({ base, secret, model, format }) => {
    const { npm, create, version, more = '' } = PROVIDERS[format]
    const text = `import { ${create} } from "${npm}";
import { generateText } from ${literal('ai')};

const interlingua = ${create}({
${more}  baseURL: ${literal(base + version)},
  apiKey: ${literal(secret)},
});

const { text } = await generateText({
  model: interlingua(${literal(model)}),
  prompt: ${literal(PROMPT)},
});
console.log(text);
`
    return program('typescript', ['ai', npm], text)
  },
}
