import type { Client, Format, Language, Values } from './client.ts'
import { PROMPT, program } from './library.ts'
import { literal } from './quote.ts'

interface Way {
  /** npm or PyPI package. `module` is the Python module and `model` is the class. */
  readonly from: string
  readonly module?: string
  readonly model: string
  /** Constructor arguments besides the model. */
  settings(base: string, secret: string): readonly string[]
}

const openai = (...more: readonly string[]): { readonly [L in Language]: Way } => ({
  python: {
    ...{ from: 'langchain-openai', module: 'langchain_openai', model: 'ChatOpenAI' },
    settings: (base, secret) => [`base_url=${literal(`${base}/v1`)}`, `api_key=${literal(secret)}`, ...more],
  },
  typescript: {
    ...{ from: '@langchain/openai', model: 'ChatOpenAI' },
    settings: (base, secret) => [
      `apiKey: ${literal(secret)}`,
      `configuration: { baseURL: ${literal(`${base}/v1`)} }`,
      ...(more.length === 0 ? [] : ['useResponsesApi: true']),
    ],
  },
})

const WAYS: { readonly [F in Format]: { readonly [L in Language]: Way } } = {
  chat: openai(),
  responses: openai('use_responses_api=True'),
  messages: {
    python: {
      ...{ from: 'langchain-anthropic', module: 'langchain_anthropic', model: 'ChatAnthropic' },
      settings: (base, secret) => [`base_url=${literal(base)}`, `api_key=${literal(secret)}`, 'max_tokens=1024'],
    },
    typescript: {
      ...{ from: '@langchain/anthropic', model: 'ChatAnthropic' },
      settings: (base, secret) => [
        `apiKey: ${literal(secret)}`,
        `anthropicApiUrl: ${literal(base)}`,
        'maxTokens: 1024',
      ],
    },
  },
  contents: {
    python: {
      ...{ from: 'langchain-google-genai', module: 'langchain_google_genai', model: 'ChatGoogleGenerativeAI' },
      settings: (base, secret) => [`base_url=${literal(base)}`, `google_api_key=${literal(secret)}`],
    },
    typescript: {
      ...{ from: '@langchain/google-genai', model: 'ChatGoogleGenerativeAI' },
      settings: (base, secret) => [`apiKey: ${literal(secret)}`, `baseUrl: ${literal(base)}`],
    },
  },
}

/** LangChain, with one integration class per format and language. */
export const langchain: Client = {
  ...{ id: 'langchain', name: 'LangChain', group: 'libraries' },
  formats: ['chat', 'responses', 'messages', 'contents'],
  languages: ['python', 'typescript'],
  write: values => {
    const way = WAYS[values.format][values.language]
    return values.language === 'python'
      ? program('python', [way.from], python(way, values))
      : program('typescript', ['@langchain/core', way.from], typescript(way, values))
  },
}

const python = ({ module, model, settings }: Way, values: Values): string => `from ${module} import ${model}

model = ${model}(
    model=${literal(values.model)},
${settings(values.base, values.secret)
  .map(line => `    ${line},\n`)
  .join('')})

message = model.invoke(${literal(PROMPT)})
print(message.text)
`

const typescript = ({ from, model, settings }: Way, values: Values): string => `import { ${model} } from "${from}";

const model = new ${model}({
  model: ${literal(values.model)},
${settings(values.base, values.secret)
  .map(line => `  ${line},\n`)
  .join('')}});

const message = await model.invoke(${literal(PROMPT)});
console.log(message.text);
`
