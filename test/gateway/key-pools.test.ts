import { describe, expect, test } from 'vitest'
import { AdminServer } from '../builders/admin.ts'
import { ANSWER, ASK, failure, json } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { KEY_A, KEY_B, KEY_C, keyIn, poolAt } from '../builders/key-pools.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH, MESSAGES_PATH } from '../builders/paths.ts'
import { TIMED, until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'

const { openUpstream, openGateway, closing } = opener()

/** An upstream that answers each key by its own script, and all others well. */
const byKey =
  (scripts: { readonly [key: string]: Script }): Script =>
  (response, seen) =>
    (scripts[keyIn(seen)] ?? answering)(response, seen)

const answering: Script = response => json(response, ANSWER)
const refusing: Script = response =>
  json(response, failure('Incorrect API key provided', { code: 'invalid_api_key' }), 401)
const limiting =
  (headers: { readonly [name: string]: string } = {}): Script =>
  response =>
    json(response, failure('Slow down.'), 429, headers)

/** Requests of different conversations. */
const asks = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...ASK, messages: [{ role: 'user', content: `Task ${index}` }] }))

describe('a pool of keys', TIMED, () => {
  test('spreads conversations over its keys, and keeps each on one', async () => {
    const upstream = await openUpstream(answering)
    const gateway = await openGateway([poolAt(`${upstream.address}/v1`, [KEY_A, KEY_B])])
    const used = new Map<string, Set<string>>()
    for (const ask of [...asks(20), ...asks(20)]) {
      expect((await gateway.ask(CHAT_PATH, ask)).status).toBe(200)
      const { content } = ask.messages[0]!
      used.getOrInsertComputed(content, () => new Set()).add(keyIn(upstream.seen.at(-1)!))
    }
    expect([...used.values()].every(keys => keys.size === 1)).toBe(true)
    expect(new Set([...used.values()].flatMap(keys => [...keys]))).toEqual(new Set([KEY_A, KEY_B]))
  })

  test('tries the next key before the next channel, and reports a key that is refused for good, once', async () => {
    const upstream = await openUpstream(byKey({ [KEY_A]: refusing }))
    const spare = await openUpstream(answering)
    const admin = await AdminServer.open([
      poolAt(`${upstream.address}/v1`, [
        { key: KEY_A, weight: 1000 },
        { key: KEY_B, weight: 0.001 },
      ]),
      channelAt(spare.address, { name: 'spare', priority: 1 }),
    ])
    closing.push(() => admin.close())
    for (const ask of asks(10)) expect((await admin.testServer.ask(CHAT_PATH, ask)).status).toBe(200)
    expect(upstream.seen.filter(seen => keyIn(seen) === KEY_A)).toHaveLength(1)
    expect(upstream.seen.filter(seen => keyIn(seen) === KEY_B)).toHaveLength(10)
    expect(spare.seen).toHaveLength(0)
    const reports = admin.testServer.lines.filter(({ level, fields }) => level === 'error' && fields['key'] === 'aaaa')
    expect(reports).toHaveLength(1)
    const { text, json: answer } = await admin.get('/channels')
    expect(answer.data[0]).toMatchObject({
      state: 'ok',
      keys_share_account: false,
      keys: [
        { ending: 'aaaa', state: 'refused', refusal: 'unauthenticated', last_5_minutes: { requests: 1, errors: 1 } },
        { ending: 'bbbb', state: 'ok', weight: 0.001, last_5_minutes: { requests: 10, errors: 0 } },
      ],
      last_errors: [{ kind: 'unauthenticated', key: 'aaaa' }],
      last_5_minutes: { requests: 11, errors: 1 },
    })
    const rest = Date.parse(answer.data[0].keys[0].resting_until) - Date.now()
    expect(rest).toBeGreaterThan(3_000_000)
    for (const shown of [text, JSON.stringify(admin.testServer.lines)])
      expect(shown).not.toMatch(/key-of-pool|pool-[abc]/)
  })

  test('rests a key for the model as long as the upstream says, and the channel only with all of its keys', async () => {
    const upstream = await openUpstream(
      byKey({
        [KEY_A]: limiting({ 'retry-after': '600' }),
        [KEY_B]: limiting({ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s' }),
      }),
    )
    const spare = await openUpstream(answering)
    const admin = await AdminServer.open([
      poolAt(`${upstream.address}/v1`, [KEY_A, KEY_B, KEY_C]),
      channelAt(spare.address, { name: 'spare', priority: 1 }),
    ])
    closing.push(() => admin.close())
    for (const ask of asks(20)) await admin.testServer.ask(CHAT_PATH, ask)
    expect(spare.seen).toHaveLength(0)
    upstream.script = limiting()
    for (const ask of asks(3)) expect((await admin.testServer.ask(CHAT_PATH, ask)).status).toBe(200)
    expect(spare.seen).toHaveLength(3)
    expect(upstream.seen.slice(-1).map(keyIn)).toEqual([KEY_C])
    const [{ keys }] = (await admin.get('/channels')).json.data
    const rests = keys.map(({ resting_models: [one] }: { resting_models: { until: string }[] }) =>
      Math.round((Date.parse(one!.until) - Date.now()) / 1000),
    )
    expect(rests[0]).toBeGreaterThan(550)
    expect(rests[1]).toBeGreaterThan(330)
    expect(rests[2]).toBeLessThanOrEqual(5)
  })

  test.each([
    ['99999999', 86_400],
    [`${Math.floor(Date.now() / 1000) + 1000}`, 1000],
  ])('tells callers to wait until a quota is reset, a day at most: %s', async (reset, seconds) => {
    const headers = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': reset }
    const upstream = await openUpstream(limiting(headers))
    const gateway = await openGateway([poolAt(`${upstream.address}/v1`, [KEY_A, KEY_B])])
    const told = Number((await gateway.ask(CHAT_PATH, ASK)).headers['retry-after'])
    expect(told).toBeGreaterThan(seconds - 100)
    expect(told).toBeLessThanOrEqual(seconds)
  })

  test('rests a key whose quota an answer calls exhausted, before anything fails', async () => {
    const spent = { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '30s' }
    const upstream = await openUpstream(byKey({ [KEY_A]: response => json(response, ANSWER, 200, spent) }))
    const gateway = await openGateway([
      poolAt(`${upstream.address}/v1`, [
        { key: KEY_A, weight: 1000 },
        { key: KEY_B, weight: 0.001 },
      ]),
    ])
    for (const ask of asks(5)) expect((await gateway.ask(CHAT_PATH, ask)).status).toBe(200)
    expect(upstream.seen.map(keyIn)).toEqual([KEY_A, KEY_B, KEY_B, KEY_B, KEY_B])
  })

  test('is not tried key by key if the upstream fails for all of them', async () => {
    const upstream = await openUpstream(response => json(response, failure('Broken.'), 500))
    const spare = await openUpstream(answering)
    const gateway = await openGateway([
      poolAt(`${upstream.address}/v1`, [KEY_A, KEY_B, KEY_C]),
      channelAt(spare.address, { name: 'spare', priority: 1 }),
    ])
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect([upstream.seen.length, spare.seen.length]).toEqual([1, 1])
  })

  test('counts the limits of each key; a request waits for none, and the last limit is a 503', async () => {
    const upstream = await openUpstream(answering)
    const limited = [KEY_A, KEY_B].map(key => ({ key, rpm: 2 }))
    const gateway = await openGateway([poolAt(`${upstream.address}/v1`, limited)])
    const statuses = []
    for (const ask of asks(5)) statuses.push((await gateway.ask(CHAT_PATH, ask)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 503])
    expect(upstream.seen.map(keyIn).sort()).toEqual([KEY_A, KEY_A, KEY_B, KEY_B])
  })

  test('counts tokens, and requests at once, of each key', async () => {
    const upstream = await openUpstream(answering)
    const gateway = await openGateway([
      poolAt(`${upstream.address}/v1`, [
        { key: KEY_A, weight: 1000, tpm: 5 },
        { key: KEY_B, weight: 0.001 },
      ]),
    ])
    for (const ask of asks(3)) await gateway.ask(CHAT_PATH, ask)
    expect(upstream.seen.map(keyIn)).toEqual([KEY_A, KEY_B, KEY_B])

    const waiting: (() => void)[] = []
    const slow = await openUpstream(response => waiting.push(() => json(response, ANSWER)))
    const other = await openGateway([
      poolAt(`${slow.address}/v1`, [
        { key: KEY_A, weight: 1000, concurrent: 1 },
        { key: KEY_B, weight: 0.001 },
      ]),
    ])
    const answers = []
    for (const [index, ask] of asks(2).entries()) {
      answers.push(other.ask(CHAT_PATH, ask))
      await until(() => slow.seen.length === index + 1)
    }
    for (const answer of waiting) answer()
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200])
    expect(slow.seen.map(keyIn)).toEqual([KEY_A, KEY_B])
  })
})

const SIGNED_BY = (key: string) => `signature-of-${key}`
/** A messages upstream that signs its reasoning with the account of each key. */
const signing: Script = (response, seen) =>
  json(response, {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: SIGNED_BY(keyIn(seen)) },
      { type: 'text', text: 'Hello.' },
    ],
    usage: { input_tokens: 1, output_tokens: 1 },
  })

const MESSAGE = { model: 'm', max_tokens: 9000, thinking: { type: 'enabled', budget_tokens: 1024 } }
const VERSION = { headers: { 'anthropic-version': '2023-06-01' } }
const USER = { role: 'user', content: 'Hi.' }

describe('reasoning that the account of a key signed', TIMED, () => {
  /** Sends two turns. The key of the first is refused before the second. */
  async function secondTurn(more = '') {
    const upstream = await openUpstream(signing)
    const channel = poolAt(upstream.address, [KEY_A, KEY_B], { format: 'messages', more })
    const gateway = await openGateway([channel])
    const first = (await gateway.ask(MESSAGES_PATH, { ...MESSAGE, messages: [USER] }, VERSION)).json
    const issuer = keyIn(upstream.seen[0]!)
    const history = [USER, { role: 'assistant', content: first.content }, USER]
    const again = await gateway.ask(MESSAGES_PATH, { ...MESSAGE, messages: history }, VERSION)
    expect(keyIn(upstream.seen[1]!)).toBe(issuer)
    expect(upstream.seen[1]!.text).toContain(SIGNED_BY(issuer))
    expect(again.headers['interlingua-loss']).toBeUndefined()
    upstream.script = (response, seen) => (keyIn(seen) === issuer ? refusing(response, seen) : signing(response, seen))
    const moved = await gateway.ask(MESSAGES_PATH, { ...MESSAGE, messages: history }, VERSION)
    expect(moved.status).toBe(200)
    expect(keyIn(upstream.seen.at(-1)!)).not.toBe(issuer)
    return { upstream, gateway, issuer, moved, history, sent: JSON.parse(upstream.seen.at(-1)!.text) }
  }

  test('never goes to the account of another key, and its loss is reported', async () => {
    const { sent, issuer, moved } = await secondTurn()
    expect(JSON.stringify(sent)).not.toContain(SIGNED_BY(issuer))
    expect(sent.messages[1].content).toEqual([{ type: 'text', text: 'Hello.' }])
    expect(moved.headers['interlingua-loss']).toContain('signed-by-another')
  })

  test('goes to every key if all share an account', async () => {
    const { sent, issuer, moved } = await secondTurn(', keys_share_account: true')
    expect(JSON.stringify(sent)).toContain(SIGNED_BY(issuer))
    expect(moved.headers['interlingua-loss']).toBeUndefined()
  })

  test('prefers the key that issued it, also where the conversation draws another', async () => {
    const { upstream, gateway, moved, history } = await secondTurn()
    const substitute = keyIn(upstream.seen.at(-1)!)
    upstream.script = signing
    const longer = [...history, { role: 'assistant', content: moved.json.content }, USER]
    await gateway.ask(MESSAGES_PATH, { ...MESSAGE, messages: longer }, VERSION)
    expect(keyIn(upstream.seen.at(-1)!)).toBe(substitute)
    expect(upstream.seen.at(-1)!.text).toContain(SIGNED_BY(substitute))
  })

  test('is unknown after a restart, and goes only to the key that the conversation draws', async () => {
    const { upstream, issuer, history } = await secondTurn()
    const restarted = await openGateway([poolAt(upstream.address, [KEY_A, KEY_B], { format: 'messages' })])
    await restarted.ask(MESSAGES_PATH, { ...MESSAGE, messages: history }, VERSION)
    expect(keyIn(upstream.seen.at(-2)!)).toBe(issuer)
    expect(upstream.seen.at(-2)!.text).toContain(SIGNED_BY(issuer))
    expect(upstream.seen.at(-1)!.text).not.toContain(SIGNED_BY(issuer))
  })

  test('is known from a stream too', async () => {
    const upstream = await openUpstream((response, seen) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const blocks = [
        {
          type: 'message_start',
          message: {
            id: 'm1',
            type: 'message',
            role: 'assistant',
            model: 'm',
            content: [],
            stop_reason: null,
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
        {
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'signature_delta', signature: SIGNED_BY(keyIn(seen)) },
        },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
        { type: 'message_stop' },
      ]
      response.end(blocks.map(one => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join(''))
    })
    const gateway = await openGateway([poolAt(upstream.address, [KEY_A, KEY_B], { format: 'messages' })])
    await gateway.ask(MESSAGES_PATH, { ...MESSAGE, stream: true, messages: [USER] }, VERSION)
    const issuer = keyIn(upstream.seen[0]!)
    const other = issuer === KEY_A ? KEY_B : KEY_A
    // Another conversation, which is assigned to the other key, holds the signature.
    for (let index = 0; index < 20; index++) {
      const thinking = { type: 'thinking', thinking: 'Hm.', signature: SIGNED_BY(issuer) }
      const messages = [
        { role: 'user', content: `Task ${index}` },
        { role: 'assistant', content: [thinking, { type: 'text', text: 'Yes.' }] },
        USER,
      ]
      await gateway.ask(MESSAGES_PATH, { ...MESSAGE, stream: true, messages }, VERSION)
      expect(keyIn(upstream.seen.at(-1)!)).toBe(issuer)
    }
    expect(upstream.seen.map(keyIn)).not.toContain(other)
  })
})
