/* Anthropic's SDKs of clouds, streamed: a history of blocks. */

import { address, key, load, model, prompt, STEPS, thinking, tools } from './session.mjs'

const CLIENTS = {
  bedrock: () => {
    const { AnthropicBedrock } = load('@anthropic-ai/bedrock-sdk')
    return new AnthropicBedrock({ baseURL: address, awsRegion: 'us-east-1', apiKey: key })
  },
  vertex: () => {
    const { AnthropicVertex } = load('@anthropic-ai/vertex-sdk')
    const authClient = { getRequestHeaders: async () => new Headers({ authorization: `Bearer ${key}` }) }
    return new AnthropicVertex({ baseURL: `${address}/v1`, region: 'global', projectId: 'any', authClient })
  },
  foundry: () => {
    const { AnthropicFoundry } = load('@anthropic-ai/foundry-sdk')
    return new AnthropicFoundry({ baseURL: address, apiKey: key })
  },
}

const [cloud] = process.argv.slice(2)
const client = CLIENTS[cloud]()
const declared = tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema }))
const messages = [{ role: 'user', content: prompt }]
for (let step = 0; step < STEPS; step++) {
  const settings = { model, max_tokens: 8000, system: 'You work with files.', thinking, tools: declared, messages }
  const { content, stop_reason } = await client.messages.stream(settings).finalMessage()
  messages.push({ role: 'assistant', content })
  if (stop_reason !== 'tool_use') {
    console.log(content.map(({ text }) => text ?? '').join(''))
    break
  }
  const calls = content.filter(({ type }) => type === 'tool_use')
  const results = calls.map(({ id, name, input }) => ({
    ...{ type: 'tool_result', tool_use_id: id },
    content: tools.find(tool => tool.name === name).run(input),
  }))
  messages.push({ role: 'user', content: results })
}
