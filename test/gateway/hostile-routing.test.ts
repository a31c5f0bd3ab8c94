import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read.ts'
import { RestingState } from '../../src/upstreams/channel/health.ts'
import { rests } from '../../src/upstreams/channel-health.ts'
import { ANSWER, ASK, failure, helloWhole, json } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { keyIn, poolAt } from '../builders/key-pools.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { TIMED } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'

const { openUpstream, openGateway } = opener()

const HOUR = 3_600_000
const failing: Script = response => json(response, failure('Broken.'), 500)

describe('a clock that is set back', () => {
  const [before, day] = [1_700_000_000_000, 24 * HOUR]

  test('ends rests that it would prolong', () => {
    const resting = new RestingState()
    resting.restChannel(before + HOUR, { refusal: 'unauthenticated' })
    resting.restModel('m', before + 60_000, before)
    expect([resting.rests(before), rests({ inFlight: 0, resting: resting.models }, 'm', before)]).toEqual([true, true])
    const after = before - day
    expect([resting.rests(after), rests({ inFlight: 0, resting: resting.models }, 'm', after)]).toEqual([false, false])
    expect(resting.count(after)).toEqual({ channels: 0, models: 0 })
  })

  test('does not keep later failures from resting a channel', () => {
    const resting = new RestingState()
    let reported = 0
    resting.restChannel(before + HOUR)
    resting.restModel('m', before + HOUR, before)
    resting.onChange = () => reported++
    const after = before - day
    resting.restChannel(after + 5000)
    resting.restModel('m', after + 5000, after)
    expect([resting.rests(after), resting.rests(after + 6000), reported]).toEqual([true, false, 2])
    expect(resting.models.get('m')).toBe(after + 5000)
  })
})

describe('a model that does what the prompt says', TIMED, () => {
  const said = (text: string) => ({
    ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm' },
    output: [
      {
        ...{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant' },
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
  })

  test.each([
    [
      'writes a text instead of an image',
      '/v1/images/generations',
      { prompt: 'Write a poem.' },
      'responses',
      said('Roses'),
    ],
    [
      'says nothing aloud',
      '/v1/audio/speech',
      { input: 'Write this down.', voice: 'alloy' },
      'contents',
      {
        candidates: [{ content: { role: 'model', parts: [{ text: 'This.' }] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
      },
    ],
    [
      'summarises nothing',
      '/v1/responses/compact',
      { input: 'Never summarise this.' },
      'chat',
      { ...ANSWER, choices: [{ ...ANSWER.choices[0], message: { role: 'assistant', content: '' } }] },
    ],
  ])('does not rest for other callers if it %s', async (_, path, body, format, answer) => {
    const [first, second] = [await openUpstream(response => json(response, answer)), await openUpstream(helloWhole)]
    const gateway = await openGateway([
      channelAt(first.address, { name: 'first', format }),
      channelAt(second.address, { name: 'second', priority: 1 }),
    ])
    await gateway.ask(path, { model: 'm', ...body })
    const seen = [first.seen.length, second.seen.length]
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect([first.seen.length, second.seen.length]).toEqual([seen[0]! + 1, seen[1]])
  })
})

test('a request that is larger than its account may send in a minute rests nothing, and another account may take it', async () => {
  const said =
    'Request too large for m in organization org-operator on tokens per min (TPM): Limit 100, Requested 900. The input or output tokens must be reduced in order to run successfully.'
  const isLarge = ({ text }: Parameters<Script>[1]): boolean => text.length > 1000
  const limited: Script = (response, seen) =>
    isLarge(seen)
      ? json(response, failure(said, { type: 'tokens', code: 'rate_limit_exceeded' }), 429)
      : json(response, ANSWER)
  const [first, second] = [await openUpstream(limited), await openUpstream(helloWhole)]
  const gateway = await openGateway([
    channelAt(first.address, { name: 'first' }),
    channelAt(second.address, { name: 'second', priority: 1 }),
  ])
  const large = { ...ASK, messages: [{ role: 'user', content: 'word '.repeat(500) }] }
  expect((await gateway.ask(CHAT_PATH, large)).status).toBe(200)
  expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
  expect([first.seen.length, second.seen.length]).toEqual([2, 1])
  second.script = limited
  const refused = await gateway.ask(CHAT_PATH, large)
  expect([refused.status, refused.json.error.code]).toEqual([413, 'request_too_large'])
  expect(refused.text).not.toContain('org-operator')
})

describe('a pool of keys', TIMED, () => {
  test('of which all rest is tried with two keys per request, not with dozens', async () => {
    const upstream = await openUpstream(response => json(response, failure('Incorrect API key provided.'), 401))
    const keys = Array.from({ length: 30 }, (_, index) => `upstream-key-of-pool-${String(index).padStart(4, '0')}`)
    const gateway = await openGateway([poolAt(upstream.address, keys)])
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBeGreaterThanOrEqual(400)
    expect(new Set(upstream.seen.map(keyIn)).size).toBe(30)
    const first = upstream.seen.length
    const again = await gateway.ask(CHAT_PATH, ASK)
    expect(again.status).toBeGreaterThanOrEqual(400)
    expect(upstream.seen.length - first).toBe(2)
    for (const key of keys) expect(again.text + JSON.stringify(gateway.lines)).not.toContain(key)
  })

  test.each([
    ['a negative delay', { 'retry-after': '-5' }],
    ['no number', { 'retry-after': 'soon' }],
    [
      'a date long ago in a quota',
      { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1999-01-01' },
    ],
    ['a year', { 'retry-after': '31536000' }],
    [
      'a quota that is full in a million years',
      { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': `${'9'.repeat(30)}d` },
    ],
  ])(
    'rests a limited key for an hour at most and for some seconds at least, if the upstream states %s',
    async (_, headers) => {
      let limited = ''
      const upstream = await openUpstream((response, seen) => {
        limited ||= keyIn(seen)
        if (keyIn(seen) !== limited) return json(response, ANSWER)
        return json(response, failure('Slow down.'), 429, headers)
      })
      const gateway = await openGateway([poolAt(upstream.address, ['upstream-key-aaaaaaaa', 'upstream-key-bbbbbbbb'])])
      for (let count = 0; count < 3; count++) expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
      expect(upstream.seen.filter(seen => keyIn(seen) === limited)).toHaveLength(1)
      const { seconds } = gateway.lines.find(({ message }) => message === 'a channel failed')!.fields
      expect(seconds).toBeGreaterThanOrEqual(5)
      expect(seconds).toBeLessThanOrEqual(3600)
    },
  )
})

describe('fallback models', TIMED, () => {
  test('in a cycle are each tried once', async () => {
    const names = ['m', 'n', 'o']
    const upstreams = await Promise.all(names.map(() => openUpstream(failing)))
    const { models } = readConfig(
      'models: { m: { fallbacks: [n, o] }, n: { fallbacks: [m, o] }, o: { fallbacks: [m, n] } }\nchannels: []',
      {},
    )
    const channels = names.map((name, index) =>
      channelAt(upstreams[index]!.address, { name, models: { named: new Map([[name, name]]), patterns: [] } }),
    )
    const gateway = await openGateway(channels, { config: { models } })
    for (const [count, model] of names.entries()) {
      expect((await gateway.ask(CHAT_PATH, { ...ASK, model })).status).toBe(502)
      expect(upstreams.map(({ seen }) => seen.length)).toEqual(names.map(() => count + 1))
    }
  })
})

describe('the session of a client', TIMED, () => {
  test('reaches neither upstream nor log, whatever it contains', async () => {
    const upstream = await openUpstream(response => json(response, ANSWER))
    const gateway = await openGateway(['a', 'b'].map(name => channelAt(upstream.address, { name })))
    const session = 'secret-session;\tx-injected: 1 \u00ff%0d%0aset-cookie: a=b'
    const answer = await gateway.ask(CHAT_PATH, ASK, { headers: { 'x-session-id': session } })
    expect(answer.status).toBe(200)
    const [seen] = upstream.seen
    expect(JSON.stringify([seen!.headers, seen!.text, gateway.lines, answer.headers])).not.toContain('secret-session')
    expect(gateway.lines.findLast(({ message }) => message === 'request')!.fields['affinity']).toBe('session')
  })

  test('of many kilobytes is refused by the server or only hashed', async () => {
    const upstream = await openUpstream(response => json(response, ANSWER))
    const gateway = await openGateway(['a', 'b'].map(name => channelAt(upstream.address, { name })))
    const sent = (length: number) =>
      gateway.ask(CHAT_PATH, ASK, { headers: { 'x-session-id': 's'.repeat(length) } }).then(({ status }) => status)
    expect([await sent(8000), await sent(60_000)]).toEqual([200, 431])
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
  })
})
