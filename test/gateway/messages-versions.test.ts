import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { readConfig } from '../../src/config/read.ts'
import { sentStyle } from '../../src/formats/index.ts'
import { json } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'

/* Trap 121: callers of either version of messages, before upstreams of either version and of other formats. */

const NEWER = '2026-10-21'
const HI = [{ role: 'user', content: 'Hi.' }]
const ANSWER = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hello.' }] },
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 3, output_tokens: 1 } },
}

let upstream: FakeUpstream
let gateway: TestServer
beforeAll(async () => {
  upstream = await FakeUpstream.open(response => json(response, ANSWER))
  const channel = (model: string, dialect: JsonObject) =>
    channelAt(upstream.address, {
      ...{ name: model, format: 'messages', dialect },
      models: { named: new Map([[model, model]]), patterns: [] },
    })
  gateway = await TestServer.open([
    channel('older', {}),
    channel('any', { version: 'caller' }),
    channel('newer', { version: NEWER }),
  ])
})
afterAll(async () => {
  await gateway.server.close(0)
  await upstream.close()
})

test.each([
  ['older', '2023-06-01', '2023-06-01', 0.5],
  ['older', NEWER, '2023-06-01', 0.5],
  ['any', '2023-06-01', '2023-06-01', 0.5],
  ['any', NEWER, NEWER, undefined],
  ['any', '2026-01-01', '2026-01-01', 0.5],
  ['any', '2027-01-01', '2027-01-01', undefined],
  ['newer', '2023-06-01', NEWER, undefined],
  ['newer', NEWER, NEWER, undefined],
])('a channel of version "%s" gets the request of a caller of %s as %s', async (model, from, to, temperature) => {
  const body = { model, max_tokens: 9, temperature: 0.5, messages: HI }
  const answer = await gateway.ask('/v1/messages', body, { headers: { 'anthropic-version': from } })
  expect(answer.status).toBe(200)
  const seen = upstream.seen.at(-1)!
  expect(seen.headers['anthropic-version']).toBe(to)
  expect(JSON.parse(seen.text).temperature).toBe(temperature)
  expect(answer.headers['interlingua-loss']).toBe(temperature === undefined ? 'temperature no-sampling' : undefined)
})

test('a caller of another format is served by a channel of either version', async () => {
  for (const model of ['any', 'newer']) {
    const answer = await gateway.ask('/v1/chat/completions', { model, temperature: 0.5, messages: HI })
    expect(answer.status).toBe(200)
    const seen = upstream.seen.at(-1)!
    expect(seen.headers['anthropic-version']).toBe(model === 'newer' ? NEWER : '2023-06-01')
    expect(JSON.parse(seen.text).temperature).toBe(model === 'newer' ? undefined : 0.5)
  }
})

test.each([
  [undefined, '2023-06-01', 'x-api-key'],
  [undefined, NEWER, 'bearer'],
  ['x-api-key', NEWER, 'x-api-key'],
  ['bearer', '2023-06-01', 'bearer'],
])(
  'the preset of the publisher with key_as %s sends the key of a request of %s as %s',
  async (keyAs, version, style) => {
    const dialect = keyAs === undefined ? '' : `, dialect: { key_as: ${keyAs} }`
    const { channels } = readConfig(
      `channels: [{ name: c, provider: anthropic, key: upstream-key, models: [m], base_url: "${upstream.address}"${dialect} }]`,
      {},
    )
    const publisher = await TestServer.open(channels)
    const body = { model: 'm', max_tokens: 9, messages: HI }
    await publisher.ask('/v1/messages', body, { headers: { 'anthropic-version': version } })
    await publisher.ask('/v1/messages', body, { headers: { 'anthropic-version': '2023-06-01' } })
    await publisher.ask('/v1/messages', body, { headers: { 'anthropic-version': version } })
    await publisher.server.close(0)
    const { authorization, 'x-api-key': key } = upstream.seen.at(-1)!.headers
    expect([authorization, key]).toEqual(
      style === 'bearer' ? ['Bearer upstream-key', undefined] : [undefined, 'upstream-key'],
    )
  },
)

test('another vendor gets the key in x-api-key, unless its channel says otherwise', async () => {
  const { channels } = readConfig(
    `channels: [{ name: c, provider: custom, formats: [messages], key: upstream-key, models: [m], base_url: "${upstream.address}" }]`,
    {},
  )
  expect(sentStyle(channels[0]!.formats[0]!, { 'anthropic-version': NEWER })).toBe('x-api-key')
})
