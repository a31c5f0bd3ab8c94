import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { RestingState } from '../../src/upstreams/channel/health.ts'
import { ANSWER, ASK, events, failure, HEAD, json, STREAM, TAIL, words } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { KEY_A, KEY_B, keyIn, poolAt } from '../builders/key-pools.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { TIMED, until } from '../builders/time.ts'

/* Answers that end after a later request failed. They show nothing of what happened since their request was sent. */

afterEach(() => void vi.restoreAllMocks())
const { openGateway, openUpstream } = opener()

describe('a target', () => {
  /** A request that is sent, or that fails or succeeds, and the model that it is for. */
  const step = fc.record({
    does: fc.constantFrom('send', 'fail-model', 'fail-channel', 'succeed'),
    request: fc.nat(5),
    model: fc.constantFrom('m', 'n'),
  })

  test('rests exactly if no request that was sent after its last failure succeeded', () => {
    let clock = 0
    vi.spyOn(performance, 'now').mockImplementation(() => clock)
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), steps => {
        const parent = new RestingState()
        const resting = new RestingState(parent)
        const sentAt = new Map<number, number>()
        const failedAt = new Map<string, number>()
        const now = Date.now()
        for (const { does, request, model } of steps) {
          clock++
          if (does === 'send') sentAt.set(request, clock)
          const sent = sentAt.get(request)
          if (sent === undefined) continue
          if (does === 'succeed') {
            resting.wake(model, sent)
            for (const part of [model, '']) if ((failedAt.get(part) ?? clock) <= sent) failedAt.delete(part)
          }
          if (does === 'fail-model') {
            for (const one of [resting, parent]) one.restModel(model, now + 60_000, now)
            failedAt.set(model, clock)
          }
          if (does === 'fail-channel') {
            for (const one of [resting, parent]) one.restChannel(now + 60_000)
            failedAt.set('', clock)
          }
          for (const one of [resting, parent]) {
            expect(one.rests(now)).toBe(failedAt.has(''))
            expect([...one.models.keys()].sort()).toEqual([...failedAt.keys()].filter(part => part !== '').sort())
          }
        }
      }),
    )
  })
})

describe('a stream that ends after a later request failed', TIMED, () => {
  /** An upstream that streams until it is told to end, and answers whole requests with a failure. */
  async function streaming(status: number, headers: { readonly [name: string]: string } = {}) {
    let stream: ServerResponse | undefined
    const upstream = await openUpstream((response, { text }) => {
      if (JSON.parse(text).stream !== true) return json(response, failure('No.'), status, headers)
      stream = response
      events(response).write(`${HEAD}${words('Hello.')}`)
    })
    const end = (): void => void stream!.end(TAIL)
    return { upstream, end }
  }

  test.each([
    [429, { 'retry-after': '30' }],
    [503, {}],
    [401, {}],
    [402, {}],
  ])('does not end the rest of a channel after a %i', async (status, headers) => {
    const { upstream, end } = await streaming(status, headers)
    const spare = await openUpstream(response => json(response, ANSWER))
    const gateway = await openGateway([
      channelAt(upstream.address, { name: 'first' }),
      channelAt(spare.address, { name: 'spare', priority: 1 }),
    ])
    const streamed = gateway.ask(CHAT_PATH, STREAM)
    await until(() => upstream.seen.length === 1)
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
    end()
    expect((await streamed).text).toContain('[DONE]')
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect([upstream.seen.length, spare.seen.length]).toEqual([2, 2])
  })

  test('does not end the rest of a key that its account no longer pays', async () => {
    const { upstream, end } = await streaming(402)
    const gateway = await openGateway([
      poolAt(`${upstream.address}/v1`, [
        { key: KEY_A, weight: 1000 },
        { key: KEY_B, weight: 0.001 },
      ]),
    ])
    const streamed = gateway.ask(CHAT_PATH, STREAM)
    await until(() => upstream.seen.length === 1)
    const script = upstream.script
    upstream.script = (response, seen) => (keyIn(seen) === KEY_A ? script(response, seen) : json(response, ANSWER))
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
    end()
    await streamed
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect(upstream.seen.map(keyIn)).toEqual([KEY_A, KEY_A, KEY_B, KEY_B])
  })
})

test('a key rests for the quota that the head of a stream calls exhausted, while the stream still runs', async () => {
  let stream: ServerResponse | undefined
  const upstream = await openUpstream((response, seen) => {
    if (keyIn(seen) === KEY_B) return json(response, ANSWER)
    stream = response.setHeader('x-ratelimit-remaining-requests', '0').setHeader('x-ratelimit-reset-requests', '30s')
    events(response).write(`${HEAD}${words('Hello.')}`)
  })
  const gateway = await openGateway([
    poolAt(`${upstream.address}/v1`, [
      { key: KEY_A, weight: 1000 },
      { key: KEY_B, weight: 0.001 },
    ]),
  ])
  const { answer } = gateway.send(CHAT_PATH, STREAM)
  const message = await answer
  expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
  stream!.end(TAIL)
  await message.resume().toArray()
  expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
  expect(upstream.seen.map(keyIn)).toEqual([KEY_A, KEY_B, KEY_B])
})
