/* Cohere's SDK, chat of version 2: streamed, or whole if the first argument says so. */

import { address, key, load, model, prompt, STEPS, tools } from './session.mjs'

const { CohereClientV2 } = load('cohere-ai')
const client = new CohereClientV2({ environment: address, token: key })

const declared = tools.map(({ name, description, schema }) => ({
  type: 'function',
  function: { name, description, parameters: schema },
}))
const messages = [
  { role: 'system', content: 'You work with files.' },
  { role: 'user', content: prompt },
]

async function whole() {
  const { message } = await client.chat({ model, messages, tools: declared })
  const { content = [], toolPlan = '', toolCalls = [] } = message
  return { content, toolPlan, toolCalls }
}

async function streamed() {
  const blocks = new Map()
  const calls = new Map()
  let toolPlan = ''
  let finish
  for await (const { type, index, delta } of await client.chatStream({ model, messages, tools: declared })) {
    if (type === 'content-start') blocks.set(index, { ...delta.message.content })
    if (type === 'content-delta') {
      const block = blocks.get(index)
      block[block.type] += delta.message.content[block.type]
    }
    if (type === 'tool-plan-delta') toolPlan += delta.message.toolPlan
    if (type === 'tool-call-start') calls.set(index, structuredClone(delta.message.toolCalls))
    if (type === 'tool-call-delta') calls.get(index).function.arguments += delta.message.toolCalls.function.arguments
    if (type === 'message-end') {
      finish = delta.finishReason
      if (finish === 'ERROR') throw new Error(delta.error)
    }
  }
  if (finish === undefined) throw new Error('the stream ended without its last event')
  return { content: [...blocks.values()], toolPlan, toolCalls: [...calls.values()] }
}

for (let step = 0; step < STEPS; step++) {
  const { content, toolPlan, toolCalls } = await (process.argv[2] === 'whole' ? whole() : streamed())
  messages.push({
    role: 'assistant',
    ...(content.length === 0 ? {} : { content }),
    ...(toolPlan === '' ? {} : { toolPlan }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  })
  if (toolCalls.length === 0) {
    console.log(content.map(({ text = '' }) => text).join(''))
    break
  }
  for (const { id, function: called } of toolCalls) {
    const output = tools.find(({ name }) => name === called.name).run(JSON.parse(called.arguments))
    messages.push({ role: 'tool', toolCallId: id, content: output })
  }
}
