import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { ChannelConfig } from '../../../src/config/index.ts'
import { json } from '../../builders/chat.ts'
import { channelAt } from '../../builders/config.ts'
import { inDatabase } from '../../builders/engines.ts'
import { KEY_A, KEY_B, keyIn, poolAt } from '../../builders/key-pools.ts'
import { opener } from '../../builders/opener.ts'
import { MESSAGES_PATH, PATHS, RESPONSES_PATH } from '../../builders/paths.ts'
import { TIMED } from '../../builders/time.ts'
import type { FakeUpstream, Script } from '../../builders/upstream.ts'
import { scratch } from '../stored/test-server.ts'

/* Signed reasoning of one account never goes to another, also if the client holds it (trap 33). */

const { openUpstream, openGateway, closing } = opener()

const CONTENTS_PATH = PATHS['contents']!

/** How one format's upstream signs an answer, and how its client continues the conversation. */
interface Dialogue {
  readonly format: string
  readonly path: (stream: boolean) => string
  readonly headers?: { readonly [name: string]: string }
  /** Events of an answer that contains the signature. The last one is the whole answer. */
  readonly events: (signature: string) => readonly object[]
  readonly whole: (signature: string) => object
  readonly first: object
  readonly second: (signature: string) => object
}

const USER = { role: 'user', content: 'What time is it?' }

const MESSAGES: Dialogue = {
  format: 'messages',
  path: () => MESSAGES_PATH,
  headers: { 'anthropic-version': '2023-06-01' },
  events: signature => [
    {
      type: 'message_start',
      message: {
        ...{ id: 'm1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null },
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ],
  whole: signature => ({
    ...{ id: 'm1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use', stop_sequence: null },
    content: [
      { type: 'thinking', thinking: 'Hm.', signature },
      { type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} },
    ],
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
  first: {
    ...{ model: 'm', max_tokens: 9000, thinking: { type: 'enabled', budget_tokens: 1024 }, messages: [USER] },
    tools: [{ name: 'clock', input_schema: { type: 'object' } }],
  },
  second: signature => ({
    ...MESSAGES.first,
    messages: [
      USER,
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature },
          { type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'noon' }] },
    ],
  }),
}

const responsesItems = (signature: string) => [
  { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: signature },
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'clock', arguments: '{}', status: 'completed' },
]

const RESPONSES: Dialogue = {
  format: 'responses',
  path: () => RESPONSES_PATH,
  whole: signature => ({
    ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed' },
    output: responsesItems(signature),
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  }),
  events: signature => [
    { type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [] } },
    ...responsesItems(signature).flatMap((item, index) => [
      { type: 'response.output_item.added', output_index: index, item },
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    { type: 'response.completed', response: RESPONSES.whole(signature) },
  ],
  first: {
    ...{ model: 'm', store: false, include: ['reasoning.encrypted_content'], input: [USER] },
    tools: [{ type: 'function', name: 'clock', parameters: { type: 'object' } }],
  },
  second: signature => ({
    ...RESPONSES.first,
    input: [USER, ...responsesItems(signature), { type: 'function_call_output', call_id: 'call_1', output: 'noon' }],
  }),
}

const GOOGLE_USER = { role: 'user', parts: [{ text: 'What time is it?' }] }
const googleTurn = (signature: string) => ({
  role: 'model',
  parts: [
    { text: 'Hm.', thought: true },
    { functionCall: { name: 'clock', args: {} }, thoughtSignature: signature },
  ],
})

const CONTENTS: Dialogue = {
  format: 'contents',
  path: stream =>
    stream ? CONTENTS_PATH.replace(':generateContent', ':streamGenerateContent?alt=sse') : CONTENTS_PATH,
  whole: signature => ({
    candidates: [{ index: 0, content: googleTurn(signature), finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }),
  events: signature => [CONTENTS.whole(signature)],
  first: {
    contents: [GOOGLE_USER],
    tools: [{ functionDeclarations: [{ name: 'clock' }] }],
  },
  second: signature => ({
    ...CONTENTS.first,
    contents: [
      GOOGLE_USER,
      googleTurn(signature),
      { role: 'user', parts: [{ functionResponse: { name: 'clock', response: { time: 'noon' } } }] },
    ],
  }),
}

const DIALOGUES = [MESSAGES, RESPONSES, CONTENTS]

/** The signature of an account, long like real ones, and valid base64. */
const signatureOf = (account: string): string => Buffer.from(`signed by ${account} `.repeat(60)).toString('base64')

const signing =
  ({ events, whole }: Dialogue, account: string): Script =>
  (response, seen) => {
    const isStream = seen.text.includes('"stream":true') || seen.url.includes('stream')
    if (!isStream) return json(response, whole(signatureOf(account)))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const lines = events(signatureOf(account)).map(event => {
      const name = 'type' in event ? `event: ${String(event.type)}\n` : ''
      return `${name}data: ${JSON.stringify(event)}\n\n`
    })
    response.end(lines.join(''))
  }

const failing: Script = response => json(response, { error: { message: 'Down.', type: 'server_error' } }, 503)

interface Accounts {
  readonly upstreams: readonly FakeUpstream[]
  readonly channels: readonly ChannelConfig[]
}

/** Two channels at two accounts. */
async function twoAccounts(dialogue: Dialogue): Promise<Accounts> {
  const upstreams = await Promise.all(['one', 'two'].map(account => openUpstream(signing(dialogue, account))))
  const channels = upstreams.map(({ address }, index) =>
    channelAt(address, { name: `channel-${index}`, format: dialogue.format, key: `upstream-key-${index}` }),
  )
  return { upstreams, channels }
}

/** Sends the first turn, and returns the index of the account that answered it. */
async function firstTurn(
  dialogue: Dialogue,
  { upstreams, channels }: Accounts,
  { stream = false, keep = '' }: { stream?: boolean; keep?: string } = {},
) {
  const gateway = await openGateway(channels, keep === '' ? {} : { keep })
  const body = { ...dialogue.first, ...(stream && dialogue !== CONTENTS ? { stream } : {}) }
  const answer = await gateway.ask(dialogue.path(stream), body, { headers: dialogue.headers ?? {} })
  expect(answer.status, answer.text).toBe(200)
  const issuer = upstreams.findIndex(({ seen }) => seen.length > 0)
  expect(answer.text).toContain(signatureOf(NAMES[issuer]!))
  return { gateway, issuer, signature: signatureOf(NAMES[issuer]!) }
}

const NAMES = ['one', 'two']
const other = (index: number): number => 1 - index

describe.each(DIALOGUES.map(dialogue => ({ ...dialogue, dialogue })))(
  'signatures of $format',
  TIMED,
  ({ dialogue }) => {
    const headers = dialogue.headers ?? {}

    test.each([false, true])(
      'stay with the channel that issued them, and their loss is reported (stream: %s)',
      async stream => {
        const accounts = await twoAccounts(dialogue)
        const { gateway, issuer, signature } = await firstTurn(dialogue, accounts, { stream })
        const same = await gateway.ask(dialogue.path(false), dialogue.second(signature), { headers })
        expect(accounts.upstreams[issuer]!.seen.at(-1)!.text).toContain(signature)
        expect(same.headers['interlingua-loss']).toBeUndefined()
        const { script } = accounts.upstreams[issuer]!
        accounts.upstreams[issuer]!.script = failing
        const moved = await gateway.ask(dialogue.path(false), dialogue.second(signature), { headers })
        expect(moved.status, moved.text).toBe(200)
        const sent = accounts.upstreams[other(issuer)]!.seen.at(-1)!.text
        expect(sent).not.toContain(signature)
        expect(sent).toContain('noon')
        expect(moved.headers['interlingua-loss']).toContain('signed-by-another')
        const refused = await gateway.ask(dialogue.path(false), dialogue.second(signature), {
          headers: { ...headers, 'interlingua-on-loss': 'refuse' },
        })
        expect(refused.status).toBeGreaterThanOrEqual(400)
        for (const { text } of accounts.upstreams[other(issuer)]!.seen) expect(text).not.toContain(signature)
        accounts.upstreams[issuer]!.script = script
      },
    )

    test('select their channel, also where the conversation draws another', async () => {
      const accounts = await twoAccounts(dialogue)
      const { gateway, issuer, signature } = await firstTurn(dialogue, accounts)
      for (let index = 0; index < 10; index++) {
        const session = { ...headers, 'x-session-id': `session-${index}` }
        const answer = await gateway.ask(dialogue.path(false), dialogue.second(signature), { headers: session })
        expect(answer.headers['interlingua-loss']).toBeUndefined()
      }
      expect(accounts.upstreams[issuer]!.seen).toHaveLength(11)
    })

    test('are known after a restart, and on another instance', async () => {
      const { path, drop } = scratch()
      closing.push(drop)
      const accounts = await twoAccounts(dialogue)
      const { gateway, issuer, signature } = await firstTurn(dialogue, accounts, { keep: path })
      await expect.poll(() => inDatabase(path, 'select issuer from signatures')).toHaveLength(1)
      expect(JSON.stringify(await inDatabase(path, 'select * from signatures'))).not.toContain('upstream-key')
      const restarted = await openGateway(accounts.channels, { keep: path })
      await gateway.server.close(0)
      for (let index = 0; index < 10; index++) {
        const session = { ...headers, 'x-session-id': `session-${index}` }
        await restarted.ask(dialogue.path(false), dialogue.second(signature), { headers: session })
      }
      expect(accounts.upstreams[issuer]!.seen).toHaveLength(11)
      accounts.upstreams[issuer]!.script = failing
      const moved = await restarted.ask(dialogue.path(false), dialogue.second(signature), { headers })
      expect(moved.headers['interlingua-loss']).toContain('signed-by-another')
      expect(accounts.upstreams[other(issuer)]!.seen.at(-1)!.text).not.toContain(signature)
    })

    test('of an account that is no longer configured go to no other', async () => {
      const { path, drop } = scratch()
      closing.push(drop)
      const accounts = await twoAccounts(dialogue)
      const { issuer, signature } = await firstTurn(dialogue, accounts, { keep: path })
      await expect.poll(() => inDatabase(path, 'select issuer from signatures')).toHaveLength(1)
      const alone = await openGateway([accounts.channels[other(issuer)]!], { keep: path })
      const moved = await alone.ask(dialogue.path(false), dialogue.second(signature), { headers })
      expect(moved.status).toBe(200)
      expect(accounts.upstreams[other(issuer)]!.seen.at(-1)!.text).not.toContain(signature)
      expect(moved.headers['interlingua-loss']).toContain('signed-by-another')
    })

    test('of unknown issuers go only to the channel that the conversation draws', async () => {
      const accounts = await twoAccounts(dialogue)
      const foreign = signatureOf('a vendor without the gateway')
      const gateway = await openGateway(accounts.channels)
      await gateway.ask(dialogue.path(false), dialogue.second(foreign), { headers })
      const drawn = accounts.upstreams.findIndex(({ seen }) => seen.length > 0)
      expect(accounts.upstreams[drawn]!.seen[0]!.text).toContain(foreign)
      accounts.upstreams[drawn]!.script = failing
      // The second request finds the drawn channel resting.
      for (let count = 0; count < 2; count++)
        await gateway.ask(dialogue.path(false), dialogue.second(foreign), { headers })
      expect(accounts.upstreams[other(drawn)]!.seen.length).toBeGreaterThan(0)
      for (const { text } of accounts.upstreams[other(drawn)]!.seen) expect(text).not.toContain(foreign)
    })
  },
)

describe('accounts', TIMED, () => {
  test('that two channels share see each other', async () => {
    const upstream = await openUpstream(signing(MESSAGES, 'one'))
    const channels = ['a', 'b'].map((name, priority) =>
      channelAt(upstream.address, { name, priority, format: 'messages', key: 'upstream-key-0' }),
    )
    const stranger = channelAt('http://127.0.0.1:9', { name: 'c', priority: 9, format: 'messages', key: 'k' })
    const gateway = await openGateway([...channels, stranger])
    const headers = MESSAGES.headers!
    await gateway.ask(MESSAGES_PATH, MESSAGES.first, { headers })
    let failures = 1
    upstream.script = (response, seen) =>
      failures-- > 0 ? failing(response, seen) : signing(MESSAGES, 'one')(response, seen)
    const moved = await gateway.ask(MESSAGES_PATH, MESSAGES.second(signatureOf('one')), { headers })
    expect(upstream.seen).toHaveLength(3)
    expect(upstream.seen[2]!.text).toContain(signatureOf('one'))
    expect(moved.headers['interlingua-loss']).toBeUndefined()
  })

  test('remain the same if the key of a channel is replaced', async () => {
    const { path, drop } = scratch()
    closing.push(drop)
    const accounts = await twoAccounts(MESSAGES)
    const { issuer, signature } = await firstTurn(MESSAGES, accounts, { keep: path })
    await expect.poll(() => inDatabase(path, 'select issuer from signatures')).toHaveLength(1)
    const channels = accounts.channels.map((channel, index) => ({ ...channel, key: `rotated-key-${index}` }))
    const rotated = await openGateway(channels, { keep: path })
    const answer = await rotated.ask(MESSAGES_PATH, MESSAGES.second(signature), { headers: MESSAGES.headers! })
    expect(accounts.upstreams[issuer]!.seen.at(-1)!.text).toContain(signature)
    expect(answer.headers['interlingua-loss']).toBeUndefined()
  })

  test('of a pool are known after a restart, where the key that issued a signature was not the drawn one', async () => {
    const { path, drop } = scratch()
    closing.push(drop)
    const upstream = await openUpstream((response, seen) => signing(MESSAGES, keyIn(seen))(response, seen))
    const channel = poolAt(upstream.address, [KEY_A, KEY_B], { format: 'messages' })
    const first = await openGateway([channel], { keep: path })
    const headers = MESSAGES.headers!
    await first.ask(MESSAGES_PATH, MESSAGES.first, { headers })
    const drawn = keyIn(upstream.seen[0]!)
    const substitute = drawn === KEY_A ? KEY_B : KEY_A
    upstream.script = (response, seen) =>
      keyIn(seen) === drawn
        ? json(response, { error: { message: 'Slow down.' } }, 429)
        : signing(MESSAGES, keyIn(seen))(response, seen)
    await first.ask(MESSAGES_PATH, MESSAGES.first, { headers })
    expect(keyIn(upstream.seen.at(-1)!)).toBe(substitute)
    await expect.poll(() => inDatabase(path, 'select issuer from signatures')).toHaveLength(2)
    upstream.script = (response, seen) => signing(MESSAGES, keyIn(seen))(response, seen)
    const restarted = await openGateway([channel], { keep: path })
    const answer = await restarted.ask(MESSAGES_PATH, MESSAGES.second(signatureOf(substitute)), { headers })
    expect(keyIn(upstream.seen.at(-1)!)).toBe(substitute)
    expect(answer.headers['interlingua-loss']).toBeUndefined()
  })

  test('are not recorded by a gateway with one account, or one that stores nothing', async () => {
    const { path, drop } = scratch()
    closing.push(drop)
    const accounts = await twoAccounts(MESSAGES)
    const alone = { ...accounts, channels: accounts.channels.slice(0, 1) }
    await firstTurn(MESSAGES, alone, { keep: path })
    await sleep(50)
    const rows = await inDatabase(path, 'select * from signatures').catch(() => [])
    expect(rows).toEqual([])
  })
})

test('a history that one account compacted is refused by another', TIMED, async () => {
  const accounts = await twoAccounts(RESPONSES)
  const compaction = { type: 'compaction', id: 'cmp_1', encrypted_content: signatureOf('history') }
  for (const upstream of accounts.upstreams)
    upstream.script = response =>
      json(response, { ...RESPONSES.whole('s'), output: [compaction, ...responsesItems('s')] })
  const gateway = await openGateway(accounts.channels)
  await gateway.ask(RESPONSES_PATH, RESPONSES.first)
  const issuer = accounts.upstreams.findIndex(({ seen }) => seen.length > 0)
  const body = { ...RESPONSES.first, input: [compaction, USER] }
  expect((await gateway.ask(RESPONSES_PATH, body)).status).toBe(200)
  expect(accounts.upstreams[issuer]!.seen).toHaveLength(2)
  accounts.upstreams[issuer]!.script = failing
  expect((await gateway.ask(RESPONSES_PATH, body)).status).toBeGreaterThanOrEqual(400)
  expect(accounts.upstreams[other(issuer)]!.seen).toHaveLength(0)
})

test(
  'a signature in the part of a history that other upstreams do not get goes to no other account',
  TIMED,
  async () => {
    const accounts = await twoAccounts(RESPONSES)
    const models = new Map([['m', { id: 'm', input: ['text' as const], output: ['text' as const], context: 300 }]])
    const gateway = await openGateway(accounts.channels, { config: { models } })
    await gateway.ask(RESPONSES_PATH, RESPONSES.first)
    const issuer = accounts.upstreams.findIndex(({ seen }) => seen.length > 0)
    accounts.upstreams[issuer]!.script = failing
    const signature = signatureOf(NAMES[issuer]!)
    const long = { role: 'user', content: 'one two three four five '.repeat(40) }
    const input = [
      long,
      ...responsesItems(signature),
      { type: 'function_call_output', call_id: 'call_1', output: 'noon' },
    ]
    const body = { ...RESPONSES.first, truncation: 'auto', input: [...input, USER] }
    const moved = await gateway.ask(RESPONSES_PATH, body)
    expect(moved.status, moved.text).toBe(200)
    const sent = accounts.upstreams[other(issuer)]!.seen.at(-1)!.text
    expect(sent).toContain('one two three')
    expect(sent).not.toContain(signature)
    expect(moved.headers['interlingua-loss']).toContain('signed-by-another')
  },
)

test('an emulated compaction sends the signatures of one account to no other', TIMED, async () => {
  const accounts = await twoAccounts(MESSAGES)
  const gateway = await openGateway(accounts.channels)
  const first = await gateway.ask(RESPONSES_PATH, RESPONSES.first)
  const issuer = accounts.upstreams.findIndex(({ seen }) => seen.length > 0)
  const signature = signatureOf(NAMES[issuer]!)
  const history = (first.json as { output: object[] }).output
  const result = { type: 'function_call_output', call_id: 'toolu_1', output: 'noon' }
  const body = { model: 'm', input: [USER, ...history, result] }
  const summary = { ...MESSAGES.whole(signature), content: [{ type: 'text', text: 'It is noon.' }] }
  for (const upstream of accounts.upstreams) upstream.script = response => json(response, summary)
  const compact = () => gateway.ask(`${RESPONSES_PATH}/compact`, body)
  expect((await compact()).status).toBe(200)
  expect(accounts.upstreams[issuer]!.seen.at(-1)!.text).toContain('noon')
  accounts.upstreams[issuer]!.script = failing
  const moved = await compact()
  expect(moved.status, moved.text).toBe(200)
  const sent = accounts.upstreams[other(issuer)]!.seen.at(-1)!.text
  expect(sent).toContain('noon')
  expect(sent).not.toContain(signature)
})
