/* LangChain, streamed: pieces are added up, and go back as they are added up. */

import { address, key, load, model, prompt, STEPS, thinking, tools } from './session.mjs'

const { HumanMessage, SystemMessage, ToolMessage } = load('@langchain/core/messages')
const { tool } = load('@langchain/core/tools')

const openai = more => {
  const { ChatOpenAI } = load('@langchain/openai')
  return new ChatOpenAI({ model, apiKey: key, configuration: { baseURL: `${address}/v1` }, ...more })
}

const MODELS = {
  chat: () => openai({}),
  responses: () =>
    openai({ useResponsesApi: true, reasoning: { effort: 'medium', summary: 'auto' }, zdrEnabled: true }),
  messages: () => {
    const { ChatAnthropic } = load('@langchain/anthropic')
    return new ChatAnthropic({ model, apiKey: key, anthropicApiUrl: address, maxTokens: 8000, thinking })
  },
  contents: () => {
    const { ChatGoogleGenerativeAI } = load('@langchain/google-genai')
    return new ChatGoogleGenerativeAI({
      model,
      apiKey: key,
      baseUrl: address,
      thinkingConfig: { includeThoughts: true },
    })
  },
}

const declared = tools.map(({ name, description, schema, run }) => tool(run, { name, description, schema }))
const bound = MODELS[process.argv[2]]().bindTools(declared)
const messages = [new SystemMessage('You work with files.'), new HumanMessage(prompt)]

for (let step = 0; step < STEPS; step++) {
  let whole
  for await (const chunk of await bound.stream(messages)) whole = whole === undefined ? chunk : whole.concat(chunk)
  messages.push(whole)
  if ((whole.tool_calls ?? []).length === 0) {
    console.log(whole.text)
    break
  }
  for (const call of whole.tool_calls) {
    const output = await declared.find(({ name }) => name === call.name).invoke(call.args)
    messages.push(new ToolMessage({ content: output, tool_call_id: call.id, name: call.name }))
  }
}
