/* The AI SDK, streamed or whole: its own loop over its own history. */

import { address, key, load, model, prompt, STEPS, thinking, tools } from './session.mjs'

const { generateText, jsonSchema, stepCountIs, streamText, tool } = load('ai')

const MODELS = {
  chat: () =>
    load('@ai-sdk/openai-compatible').createOpenAICompatible({ name: 'il', baseURL: `${address}/v1`, apiKey: key })(
      model,
    ),
  responses: () => load('@ai-sdk/openai').createOpenAI({ baseURL: `${address}/v1`, apiKey: key })(model),
  messages: () => load('@ai-sdk/anthropic').createAnthropic({ baseURL: `${address}/v1`, apiKey: key })(model),
  contents: () => load('@ai-sdk/google').createGoogleGenerativeAI({ baseURL: `${address}/v1beta`, apiKey: key })(model),
  converse: () => load('@ai-sdk/amazon-bedrock').createAmazonBedrock({ baseURL: address, apiKey: key })(model),
  // Providers of vendors that speak chat completions in their own way.
  deepseek: () => load('@ai-sdk/deepseek').createDeepSeek({ baseURL: `${address}/v1`, apiKey: key })(model),
  groq: () => load('@ai-sdk/groq').createGroq({ baseURL: `${address}/v1`, apiKey: key })(model),
  mistral: () => load('@ai-sdk/mistral').createMistral({ baseURL: `${address}/v1`, apiKey: key })(model),
  xai: () => load('@ai-sdk/xai').createXai({ baseURL: `${address}/v1`, apiKey: key })(model),
  openrouter: () =>
    load('@openrouter/ai-sdk-provider')
      .createOpenRouter({ baseURL: `${address}/v1`, apiKey: key })
      .chat(model),
}

const providerOptions = {
  openai: {
    reasoningEffort: 'medium',
    reasoningSummary: 'auto',
    include: ['reasoning.encrypted_content'],
    store: false,
    forceReasoning: true,
  },
  anthropic: { thinking: { type: thinking.type, budgetTokens: thinking.budget_tokens, display: thinking.display } },
  google: { thinkingConfig: { includeThoughts: true } },
}

const declared = tools.map(({ name, description, schema, run }) => [
  name,
  tool({ description, inputSchema: jsonSchema(schema), execute: run }),
])
const [format, way] = process.argv.slice(2)
const settings = {
  model: MODELS[format](),
  prompt,
  tools: Object.fromEntries(declared),
  stopWhen: stepCountIs(STEPS),
  maxOutputTokens: 8000,
  providerOptions,
}
const onError = ({ error }) => {
  console.error(error)
  process.exitCode = 1
}
const result = way === 'whole' ? await generateText(settings) : streamText({ ...settings, onError })
console.log(await result.text)
