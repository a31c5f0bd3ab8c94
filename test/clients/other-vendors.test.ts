import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { parseObject } from '../../src/canonical/node.ts'
import { PLAIN_CHAT } from '../../src/formats/dialects/chat.ts'
import { PLAIN_RESPONSES } from '../../src/formats/dialects/responses.ts'
import { KEY } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import type { Seen } from '../builders/upstream.ts'
import { type Loose, SSE, type UpstreamFormat } from './scene.ts'
import { UPSTREAMS } from './upstreams/index.ts'

/* OpenAI's client with OpenAI's kinds of tools, whose upstream is another vendor's with functions only. */

const { open } = opener()

const PATCH = '*** Begin Patch\n*** End Patch'

/** An upstream that calls the first tool that it was offered as a function with one text. */
async function openPlain(name: string, dialect: typeof PLAIN_CHAT | typeof PLAIN_RESPONSES) {
  const format: UpstreamFormat = UPSTREAMS[name]!
  const { testServer, upstream } = await open(
    (response, { url, text }: Seen) => {
      const body = parseObject(text)!
      const [tool] = format.hear(body).tools
      const scene = { calls: [{ id: 'call_1', name: tool!, arguments: { input: PATCH } }] }
      const streams = format.streams(url, body)
      response.writeHead(200, { 'content-type': streams ? SSE.contentType : 'application/json' })
      response.end(streams ? format.frames(scene).join('') : JSON.stringify(format.whole(scene)))
    },
    {},
    { format: name, dialect },
  )
  const client = new OpenAI({ baseURL: `${testServer.server.address}/v1`, apiKey: KEY, maxRetries: 0 })
  return { client, tools: (): Loose => parseObject(upstream.seen.at(-1)!.text)!['tools'] }
}

describe('custom tools of Responses', () => {
  const request = {
    model: 'm',
    input: 'Hi',
    tools: [
      { type: 'custom', name: 'apply_patch' },
      { type: 'namespace', name: 'mail', description: 'Mail.', tools: [{ type: 'function', name: 'send' }] },
    ],
  } as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming
  const called = { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: PATCH }

  test('are functions for the upstream, and custom in a whole answer', async () => {
    const { client, tools } = await openPlain('responses', PLAIN_RESPONSES)
    const { output } = await client.responses.create(request)
    expect(tools().map(({ type, name }: Loose) => `${type} ${name}`)).toEqual([
      'function apply_patch',
      'function mail__send',
    ])
    expect(output).toMatchObject([called])
    expect(output[0]).not.toHaveProperty('arguments')
  })

  test('are custom in every event of a stream', async () => {
    const { client } = await openPlain('responses', PLAIN_RESPONSES)
    const stream = await client.responses.create({ ...request, stream: true })
    const events: Loose[] = []
    for await (const event of stream) events.push(event)
    expect(JSON.stringify(events)).not.toContain('function_call')
    expect(events.find(({ type }) => type === 'response.custom_tool_call_input.done').input).toBe(PATCH)
    expect(events.find(({ type }) => type === 'response.output_item.done').item).toMatchObject(called)
    expect(events.at(-1).response.output).toMatchObject([called])
  })
})

describe('custom tools of Chat Completions', () => {
  const request = {
    model: 'm',
    messages: [{ role: 'user' as const, content: 'Hi' }],
    tools: [{ type: 'custom' as const, custom: { name: 'apply_patch' } }],
  }
  const called = { id: 'call_1', type: 'custom', custom: { name: 'apply_patch', input: PATCH } }

  test('are functions for the upstream, and custom in a whole answer', async () => {
    const { client, tools } = await openPlain('chat', PLAIN_CHAT)
    const { choices } = await client.chat.completions.create(request)
    expect(tools()).toMatchObject([{ type: 'function', function: { name: 'apply_patch' } }])
    expect(choices[0]!.message.tool_calls).toEqual([called])
  })

  test('are custom in a stream', async () => {
    const { client } = await openPlain('chat', PLAIN_CHAT)
    const stream = await client.chat.completions.create({ ...request, stream: true })
    let input = ''
    for await (const { choices } of stream)
      for (const call of (choices[0]?.delta.tool_calls ?? []) as readonly Loose[]) {
        expect(call).not.toHaveProperty('function')
        input += call.custom?.input ?? ''
      }
    expect(input).toBe(PATCH)
  })
})
