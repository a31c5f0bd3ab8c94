/* AWS's SDK, ConverseStream: a history of blocks, which the caller adds up from events. Bearer token or signature. */

import { address, key, load, model, prompt, STEPS, thinking, tools } from './session.mjs'

const { BedrockRuntimeClient, ConverseStreamCommand } = load('@aws-sdk/client-bedrock-runtime')
const { NodeHttpHandler } = load('@smithy/node-http-handler')

const [way] = process.argv.slice(2)
const signIn =
  way === 'signed'
    ? { credentials: { accessKeyId: key, secretAccessKey: 'unused' }, authSchemePreference: ['sigv4'] }
    : { token: { token: key }, authSchemePreference: ['httpBearerAuth'] }
// By default this client alone speaks HTTP/2.
const requestHandler = new NodeHttpHandler()
const client = new BedrockRuntimeClient({ region: 'us-east-1', endpoint: address, requestHandler, ...signIn })
const toolConfig = {
  tools: tools.map(({ name, description, schema }) => ({
    toolSpec: { name, description, inputSchema: { json: schema } },
  })),
}

/** Adds a delta to a block. */
function grow(block, { text, toolUse, reasoningContent }) {
  if (text !== undefined) block.text = (block.text ?? '') + text
  if (toolUse !== undefined) block.toolUse.input += toolUse.input
  if (reasoningContent?.redactedContent !== undefined) block.reasoningContent = reasoningContent
  else if (reasoningContent !== undefined) {
    block.reasoningContent ??= { reasoningText: { text: '' } }
    const said = block.reasoningContent.reasoningText
    for (const [field, value] of Object.entries(reasoningContent)) said[field] = (said[field] ?? '') + value
  }
}

/** Returns one streamed answer and why it ended. */
async function answer(messages) {
  const command = new ConverseStreamCommand({
    modelId: model,
    system: [{ text: 'You work with files.' }],
    messages,
    toolConfig,
    inferenceConfig: { maxTokens: 8000 },
    additionalModelRequestFields: { thinking },
  })
  const blocks = []
  let reason
  let usage
  for await (const { contentBlockStart, contentBlockDelta, messageStop, metadata } of (await client.send(command))
    .stream) {
    if (contentBlockStart !== undefined)
      blocks[contentBlockStart.contentBlockIndex] = { toolUse: { ...contentBlockStart.start.toolUse, input: '' } }
    if (contentBlockDelta !== undefined)
      grow((blocks[contentBlockDelta.contentBlockIndex] ??= {}), contentBlockDelta.delta)
    reason ??= messageStop?.stopReason
    usage ??= metadata?.usage
  }
  if (!(usage?.totalTokens > 0)) throw new Error('The stream had no usage.')
  for (const { toolUse } of blocks) if (toolUse !== undefined) toolUse.input = JSON.parse(toolUse.input || '{}')
  return { content: blocks, reason }
}

const messages = [{ role: 'user', content: [{ text: prompt }] }]
for (let step = 0; step < STEPS; step++) {
  const { content, reason } = await answer(messages)
  messages.push({ role: 'assistant', content })
  if (reason !== 'tool_use') {
    console.log(content.map(({ text }) => text ?? '').join(''))
    break
  }
  const calls = content.flatMap(({ toolUse }) => (toolUse === undefined ? [] : [toolUse]))
  const results = calls.map(({ toolUseId, name, input }) => {
    const text = tools.find(tool => tool.name === name).run(input)
    return { toolResult: { toolUseId, content: [{ text }] } }
  })
  messages.push({ role: 'user', content: results })
}
