import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { readConfig } from '../../src/config/read.ts'
import { chunk, HEAD, TAIL, words } from '../builders/chat.ts'
import type { TestServerOptions } from '../builders/config.ts'
import { channelAt } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH, MESSAGES_PATH, PATHS, RESPONSES_PATH } from '../builders/paths.ts'
import { TIMED } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'

/* A refusal in a stream leads to a fallback model, as long as nothing of the answer was sent. */

const { openUpstream, openGateway } = opener()

const named = (...events: readonly JsonObject[]): string =>
  events.map(event => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const data = (...events: readonly JsonObject[]): string =>
  events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')

const MESSAGE = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null }
const messages = (...inner: readonly JsonObject[]): string =>
  named(
    { type: 'message_start', message: { ...MESSAGE, usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: 'ping' },
    ...inner,
    { type: 'message_delta', delta: { stop_reason: 'refusal' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  )
const block = (index: number, start: JsonObject, ...deltas: readonly JsonObject[]): readonly JsonObject[] => [
  { type: 'content_block_start', index, content_block: start },
  ...deltas.map(delta => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]

const RESPONSE = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [] }
const refusalItem = (refusal: string, status: string) => ({
  ...{ type: 'message', id: 'msg_1', role: 'assistant', status },
  content: status === 'completed' ? [{ type: 'refusal', refusal }] : [],
})
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }

/** Streams in which a model refuses without any content, by format and kind. */
const REFUSALS: readonly (readonly [format: string, kind: string, stream: string])[] = [
  ['chat', 'the field refusal', HEAD + chunk({ refusal: 'I ' }) + chunk({ refusal: "can't." }) + TAIL],
  ['chat', 'content_filter', `${HEAD}${chunk({}, 'content_filter')}data: [DONE]\n\n`],
  ['messages', 'stop_reason refusal', messages()],
  ['messages', 'an empty text before stop_reason refusal', messages(...block(0, { type: 'text', text: '' }))],
  [
    'responses',
    'a refusal part',
    named(
      { type: 'response.created', response: { ...RESPONSE, status: 'in_progress' } },
      { type: 'response.in_progress', response: { ...RESPONSE, status: 'in_progress' } },
      { type: 'response.output_item.added', output_index: 0, item: refusalItem('', 'in_progress') },
      { type: 'response.content_part.added', ...place, part: { type: 'refusal', refusal: '' } },
      { type: 'response.refusal.delta', ...place, delta: "I can't." },
      { type: 'response.refusal.done', ...place, refusal: "I can't." },
      { type: 'response.content_part.done', ...place, part: { type: 'refusal', refusal: "I can't." } },
      { type: 'response.output_item.done', output_index: 0, item: refusalItem("I can't.", 'completed') },
      {
        type: 'response.completed',
        response: { ...RESPONSE, status: 'completed', output: [refusalItem("I can't.", 'completed')] },
      },
    ),
  ],
  [
    'responses',
    'a content filter',
    named(
      { type: 'response.created', response: { ...RESPONSE, status: 'in_progress' } },
      {
        type: 'response.incomplete',
        response: { ...RESPONSE, status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      },
    ),
  ],
  ['contents', 'promptFeedback', data({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: {} })],
  ['contents', 'finishReason SAFETY', data({ candidates: [{ index: 0, finishReason: 'SAFETY' }] })],
]

/** How callers of each format request a stream. */
const CALLERS: readonly { readonly format: string; readonly path: string; readonly body: JsonObject }[] = [
  { format: 'chat', path: CHAT_PATH, body: { stream: true, messages: [{ role: 'user', content: 'Hi.' }] } },
  {
    ...{ format: 'messages', path: MESSAGES_PATH },
    body: { stream: true, max_tokens: 99, messages: [{ role: 'user', content: 'Hi.' }] },
  },
  { format: 'responses', path: RESPONSES_PATH, body: { stream: true, input: 'Hi.' } },
  {
    format: 'contents',
    path: PATHS['contents']!.replace(':generateContent', ':streamGenerateContent?alt=sse'),
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi.' }] }] },
  },
]

const streaming =
  (text: string): Script =>
  response =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
const failing: Script = response => response.writeHead(500, { 'content-type': 'application/json' }).end('{}')
const answering = streaming(HEAD + words('Gladly.') + TAIL)

async function open(format: string, script: Script, other: Script, options: TestServerOptions = {}, on = 'refusal') {
  const [first, second] = [await openUpstream(script), await openUpstream(other)]
  const { models } = readConfig(`models: { m: { fallbacks: [{ model: other, on: [${on}] }] } }\nchannels: []`, {})
  const only = (model: string) => ({ named: new Map([[model, model]]), patterns: [] })
  const gateway = await openGateway(
    [
      channelAt(first.address, { name: 'first', format, models: only('m') }),
      channelAt(second.address, { name: 'second', format: 'chat', models: only('other') }),
    ],
    { ...options, config: { models } },
  )
  const ask = ({ path, body }: (typeof CALLERS)[number]) =>
    gateway.ask(path, { model: 'm', ...body }, { headers: { 'anthropic-version': '2023-06-01' } })
  const logged = () => gateway.lines.findLast(({ message }) => message === 'request')!.fields
  return { gateway, first, second, ask, logged }
}

describe.each(REFUSALS)('a streamed refusal of %s by %s', TIMED, (format, _, stream) => {
  test.each(CALLERS)('leads to a fallback for callers of $format', async caller => {
    const { ask, logged, second } = await open(format, streaming(stream), answering)
    const answer = await ask(caller)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers['interlingua-fallback']).toBe('refusal')
    expect(answer.text).toContain('Gladly.')
    expect(answer.text).not.toContain("can't")
    expect(logged()).toMatchObject({ model: 'other', requested_model: 'm', fallback: 'refusal' })
    expect(second.seen).toHaveLength(1)
  })

  test.each(CALLERS)('reaches callers of $format if the fallback fails, as it would without one', async caller => {
    const kept = await open(format, streaming(stream), failing)
    const plain = await open(format, streaming(stream), failing, {}, 'rate-limit')
    const [answer, other] = [await kept.ask(caller), await plain.ask(caller)]
    expect([answer.status, kept.second.seen.length, plain.second.seen.length]).toEqual([200, 1, 0])
    expect(answer.headers['interlingua-fallback']).toBeUndefined()
    expect(withoutIds(answer.text)).toBe(withoutIds(other.text))
    expect(kept.logged()).toMatchObject({ model: 'm', status: 200 })
  })
})

/** Replaces everything that differs between two equal answers. */
const withoutIds = (text: string): string =>
  text.replace(/"(?:id|item_id|responseId)":"[^"]*"/g, '').replace(/"(?:created|created_at|completed_at)":\d+/g, '')

describe('a stream of a model with a fallback for refusals', TIMED, () => {
  const [chat] = CALLERS as [(typeof CALLERS)[number]]

  test.each([
    ['chat', HEAD + words('Once ') + chunk({ refusal: "I can't." }) + TAIL, 'Once '],
    ['messages', messages(...block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'Once ' })), 'Once '],
    ['messages', messages(...block(0, { type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} })), 'clock'],
  ])('stays with it once content was sent (%s)', async (format, stream, shown) => {
    const { ask, second } = await open(format, streaming(stream), answering)
    const answer = await ask(chat)
    expect(answer.text).toContain(shown)
    expect(answer.headers['interlingua-fallback']).toBeUndefined()
    expect(second.seen).toHaveLength(0)
  })

  test('is sent from its first content on, while the upstream still writes', async () => {
    const rest = Promise.withResolvers<void>()
    const { gateway } = await open(
      'chat',
      async response => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(HEAD + words('Once '))
        await rest.promise
        response.end(words('more.') + TAIL)
      },
      answering,
    )
    const response = await gateway.send(CHAT_PATH, { model: 'm', ...chat.body }).answer
    let text = ''
    for await (const piece of response) {
      text += Buffer.from(piece).toString()
      if (text.includes('Once ')) rest.resolve()
    }
    expect(text).toContain('more.')
  })

  test('may fall back after reasoning that its caller does not see, but not after reasoning that it sees', async () => {
    const stream = messages(
      ...block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'Hm.' },
        { type: 'signature_delta', signature: 'EqQBCkYI' },
      ),
    )
    const { ask } = await open('messages', streaming(stream), answering)
    const contents = CALLERS[3]!
    expect((await ask(contents)).headers['interlingua-fallback']).toBe('refusal')
    const native = await ask(CALLERS[1]!)
    expect(native.headers['interlingua-fallback']).toBeUndefined()
    expect(native.text).toContain('Hm.')
  })

  test('is held for one heartbeat at most', async () => {
    const slow: Script = async response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(HEAD + chunk({ refusal: 'I ' }))
      await new Promise(resolve => setTimeout(resolve, 300))
      response.end(chunk({ refusal: "can't." }) + TAIL)
    }
    const { ask, second } = await open('chat', slow, answering, { heartbeat: 50 })
    const answer = await ask(chat)
    expect(answer.text).toContain("can't.")
    expect(second.seen).toHaveLength(0)
  })

  test('that breaks off in its refusal is a failure, and nothing of it is sent', async () => {
    const cut: Script = response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(HEAD + chunk({ refusal: 'I ' }))
      setTimeout(() => response.destroy(), 20)
    }
    const { ask } = await open('chat', cut, answering, {}, 'refusal, failure')
    const answer = await ask(chat)
    expect(answer.headers['interlingua-fallback']).toBe('failure')
    expect(answer.text).toContain('Gladly.')
  })

  test('rests no channel, and counts the refusal of the upstream as a success', async () => {
    const { ask, first } = await open('chat', streaming(REFUSALS[0]![2]), answering)
    for (let count = 1; count <= 3; count++) {
      expect((await ask(chat)).text).toContain('Gladly.')
      expect(first.seen).toHaveLength(count)
    }
  })
})
