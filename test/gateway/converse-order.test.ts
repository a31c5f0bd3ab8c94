import { describe, expect, test } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { CONVERSE_FRAMES, chunkFrame, EVENTS } from '../builders/clouds/answers.ts'
import { channelAt } from '../builders/config.ts'
import { converseFrame, frames, framesIn } from '../builders/frames.ts'
import { textOf, VERSION_HEADERS } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { random } from '../builders/random.ts'
import type { Loose } from '../clients/scene.ts'
import { UPSTREAMS } from '../clients/upstreams/index.ts'
import { grammarFault } from '../laws/grammar.ts'

/*
 * Streams of Converse and InvokeModel whose events come early, late, twice or not at all, and requests of Converse whose
 * messages and blocks stand in an order that no model accepts.
 */

const { openGateway, openUpstream } = opener()

const REQUEST = { model: 'm', messages: [], output: {}, sampling: {}, stream: true } as unknown as CanonicalRequest

/** A stream with reasoning, a text and two calls. */
const STREAM: readonly (readonly [string, JsonObject])[] = [
  ['messageStart', { role: 'assistant' }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Hm.' } } }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'c2ln' } } }],
  ['contentBlockStop', { contentBlockIndex: 0 }],
  ['contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'Well, ' } }],
  ['contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'look.' } }],
  ['contentBlockStop', { contentBlockIndex: 1 }],
  ['contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { toolUseId: 't1', name: 'f' } } }],
  ['contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '{"a":' } } }],
  ['contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '1}' } } }],
  ['contentBlockStop', { contentBlockIndex: 2 }],
  ['contentBlockStart', { contentBlockIndex: 3, start: { toolUse: { toolUseId: 't2', name: 'g' } } }],
  ['contentBlockDelta', { contentBlockIndex: 3, delta: { toolUse: { input: '{}' } } }],
  ['contentBlockStop', { contentBlockIndex: 3 }],
  ['messageStop', { stopReason: 'tool_use' }],
  ['metadata', { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 }, metrics: { latencyMs: 1 } }],
]

const wire = (events: typeof STREAM): WireEvent[] =>
  events.map(([event, data]) => ({ event, data: JSON.stringify(data) }))

const read = (events: typeof STREAM): CanonicalEvent[] => drain(READERS['converse']!.events!(REQUEST), wire(events))

/** All orders in which one event stands elsewhere, is missing or comes twice, and some in which all do. */
function* disorders(): Generator<readonly [name: string, events: typeof STREAM]> {
  for (let from = 0; from < STREAM.length; from++) {
    yield [`without ${from}`, STREAM.toSpliced(from, 1)]
    for (let to = 0; to < STREAM.length; to++) {
      yield [`${from} at ${to}`, STREAM.toSpliced(from, 1).toSpliced(to, 0, STREAM[from]!)]
      yield [`${from} again at ${to}`, STREAM.toSpliced(to, 0, STREAM[from]!)]
    }
  }
  const next = random(11)
  for (let count = 0; count < 300; count++)
    yield [
      `shuffle ${count}`,
      STREAM.map(event => [next(), event] as const)
        .sort(([a], [b]) => a - b)
        .map(([, event]) => event),
    ]
}

/** The texts, arguments and names of all parts, without their order. */
const contentOf = (events: readonly CanonicalEvent[]): string[] => {
  const parts = new Map<string, string>()
  for (const event of events) {
    if (!('at' in event)) continue
    const at = JSON.stringify(event.at)
    if (event.type === 'part-start') parts.set(at, `${event.part.type} ${'name' in event.part ? event.part.name : ''} `)
    if (event.type === 'part-delta') parts.set(at, `${parts.get(at)}${event.append}`)
  }
  return [...parts.values()].sort()
}

describe('events of a stream in another order', () => {
  test('follow the grammar of events, end once, and can be written in every format', () => {
    const formats = Object.keys(WRITERS).filter(format => WRITERS[format]!.events !== undefined)
    expect(formats.length).toBeGreaterThan(6)
    let count = 0
    for (const [name, events] of disorders()) {
      const canonical = read(events)
      expect(grammarFault(canonical), name).toBeUndefined()
      const format = formats[count++ % formats.length]!
      const written = drain(WRITERS[format]!.events!(REQUEST), canonical)
      expect(written.length, `${name} as ${format}`).toBeGreaterThan(0)
    }
    expect(count).toBeGreaterThan(800)
  })

  test('of interleaved blocks keep what belongs to each block', () => {
    const byBlock = Map.groupBy(STREAM, ([, data]) => data['contentBlockIndex'])
    const blocks = [0, 1, 2, 3].map(index => byBlock.get(index)!)
    const [start, stop, metadata] = [STREAM[0]!, STREAM.at(-2)!, STREAM.at(-1)!]
    const expected = contentOf(read(STREAM))
    const next = random(5)
    for (let round = 0; round < 100; round++) {
      const queues = blocks.map(block => [...block])
      const mixed: (readonly [string, JsonObject])[] = []
      while (queues.some(queue => queue.length > 0)) {
        const some = queues.filter(queue => queue.length > 0)
        mixed.push(some[Math.floor(next() * some.length)]!.shift()!)
      }
      for (const events of [
        [start, ...mixed, stop, metadata],
        [...mixed, stop, metadata],
        [metadata, start, ...mixed, stop],
        [start, ...mixed, metadata, stop],
      ]) {
        const canonical = read(events)
        expect(grammarFault(canonical)).toBeUndefined()
        expect(contentOf(canonical)).toEqual(expected)
        expect(canonical.findLast(({ type }) => type === 'usage')).toMatchObject({ usage: { input: 3, output: 2 } })
        expect(canonical.at(-1)!.type).toBe('result-end')
      }
    }
  })
})

const CALLERS: readonly [path: string, body: object, isEnd: RegExp][] = [
  [
    '/v1/chat/completions',
    { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true },
    /^data: (\[DONE\]|\{"error")/m,
  ],
  [
    '/v1/messages',
    { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], stream: true },
    /^event: (message_stop|error)$/m,
  ],
  ['/v1/responses', { model: 'm', input: 'Hi', stream: true }, /^event: response\.(completed|failed|incomplete)$/m],
]

describe('frames of an upstream in another order', () => {
  const orders = (all: readonly Buffer[]): (readonly Buffer[])[] => [
    all.toReversed(),
    [...all, ...all],
    [all.at(-1)!, ...all],
    [...all.slice(1), all[0]!],
    all.toSpliced(2, 0, all[1]!, all[1]!),
    [...all.slice(2), ...all.slice(0, 2)],
  ]

  test.each([
    ['Converse', 'converse', CONVERSE_FRAMES],
    ['InvokeModel', 'messages', EVENTS.map(chunkFrame)],
  ] as const)('end the answer of every caller, once (%s)', async (_, format, all) => {
    const upstream = await openUpstream(() => {})
    const channel = channelAt(upstream.address, { format, baseUrl: upstream.address })
    const invoked = { ...channel.formats[0]!, hosting: 'bedrock-invoke', errors: 'converse' } as const
    const gateway = await openGateway([{ ...channel, ...(format === 'messages' ? { formats: [invoked] } : {}) }])
    for (const order of orders(all)) {
      upstream.script = response => frames(response).end(Buffer.concat(order))
      for (const [path, body, end] of CALLERS) {
        const answer = await gateway.ask(path, body, VERSION_HEADERS)
        if (answer.status === 200) expect(answer.text.match(new RegExp(end, 'gm')), path).toHaveLength(1)
        else expect([502, 503]).toContain(answer.status)
      }
      const bytes: Buffer[] = []
      const native = await gateway.send('/model/m/converse-stream', {
        messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      }).answer
      await new Promise(resolve => native.on('data', chunk => bytes.push(chunk)).on('close', resolve))
      if (native.statusCode !== 200) continue
      const names = framesIn(Buffer.concat(bytes)).map(({ name }) => name)
      expect(names.filter(name => name === 'messageStop' || name.endsWith('Exception')).length).toBeGreaterThan(0)
    }
    expect(gateway.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('with blocks that begin after the end add nothing to the answer', async () => {
    const late = [
      ...CONVERSE_FRAMES,
      converseFrame('contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'late' } }),
      converseFrame('messageStart', { role: 'assistant' }),
      converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'again' } }),
      converseFrame('messageStop', { stopReason: 'end_turn' }),
    ]
    const upstream = await openUpstream(response => frames(response).end(Buffer.concat(late)))
    const gateway = await openGateway([channelAt(upstream.address, { format: 'converse', baseUrl: upstream.address })])
    for (const [path, body] of CALLERS) {
      const { text } = await gateway.ask(path, body, VERSION_HEADERS)
      expect(text).toContain('Hello.')
      expect(text).not.toMatch(/late|again/)
    }
  })
})

describe('requests whose messages and blocks stand in another order', () => {
  const user = (...content: JsonObject[]) => ({ role: 'user', content })
  const assistant = (...content: JsonObject[]) => ({ role: 'assistant', content })
  const call = (toolUseId: string, name = 'f') => ({ toolUse: { toolUseId, name, input: { id: toolUseId } } })
  const result = (toolUseId: string) => ({ toolResult: { toolUseId, content: [{ text: `result of ${toolUseId}` }] } })
  const TOOLS = { tools: [{ toolSpec: { name: 'f', inputSchema: { json: { type: 'object' } } } }] }

  /** Histories, and the calls whose results a model may see: in pairs, in order. */
  const HISTORIES: readonly [name: string, messages: readonly object[]][] = [
    [
      'results in another order than their calls',
      [user({ text: 'Go' }), assistant(call('a'), call('b')), user(result('b'), result('a'))],
    ],
    ['a result before its call', [user(result('a')), assistant(call('a')), user({ text: 'Go' })]],
    ['a result without a call', [user({ text: 'Go' }, result('z'))]],
    ['a call without a result', [user({ text: 'Go' }), assistant(call('a')), user({ text: 'And?' })]],
    ['a text before the results', [user({ text: 'Go' }), assistant(call('a')), user({ text: 'Here:' }, result('a'))]],
    [
      'results in two messages',
      [user({ text: 'Go' }), assistant(call('a'), call('b')), user(result('a')), user(result('b'))],
    ],
    ['the same result twice', [user({ text: 'Go' }), assistant(call('a')), user(result('a'), result('a'))]],
    ['the same call twice', [user({ text: 'Go' }), assistant(call('a'), call('a')), user(result('a'))]],
    [
      'a result much later',
      [user({ text: 'Go' }), assistant(call('a')), user({ text: 'x' }), assistant({ text: 'y' }), user(result('a'))],
    ],
    ['an assistant that begins', [assistant({ text: 'Hello' }), user({ text: 'Go' })]],
    ['an assistant that ends', [user({ text: 'Go' }), assistant({ text: 'Well' })]],
    [
      'a call by the user and a result by the assistant',
      [user(call('a')), assistant(result('a')), user({ text: 'Go' })],
    ],
    [
      'reasoning after the text',
      [
        user({ text: 'Go' }),
        assistant({ text: 'Well' }, { reasoningContent: { reasoningText: { text: 'Hm', signature: 'c2ln' } } }),
        user({ text: 'On' }),
      ],
    ],
    [
      'empty messages between',
      [user({ text: 'Go' }), assistant(), user(), assistant({ text: 'x' }), user({ text: 'On' })],
    ],
  ]

  test.each(HISTORIES)('%s: every upstream gets each result after its call, or no request', async (_, messages) => {
    for (const format of ['chat', 'messages', 'contents', 'responses', 'cohere-chat'] as const) {
      const speaks = UPSTREAMS[format]!
      const upstream = await openUpstream(response => {
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(speaks.whole({ text: 'Well.' })))
      })
      const baseUrl = ['messages', 'contents', 'cohere-chat'].includes(format)
        ? upstream.address
        : `${upstream.address}/v1`
      const gateway = await openGateway([channelAt(upstream.address, { format, baseUrl })])
      const { status } = await gateway.ask('/model/m/converse', { messages, toolConfig: TOOLS })
      expect([200, 400], format).toContain(status)
      if (status !== 200) continue
      const { turns } = speaks.hear(JSON.parse(upstream.seen[0]!.text))
      let open: string[] = []
      for (const one of turns as Loose[]) {
        for (const { output, name } of one.results ?? []) {
          // Formats without ids name the call by its function.
          expect(name, `${format}: ${JSON.stringify(turns)}`).not.toBe('?')
          const called = /result of (\w+)/.exec(String(output))?.[1]
          if (called !== undefined) expect(open, format).toContain(called)
        }
        if (one.calls?.length > 0) open = one.calls.map((made: Loose) => made.arguments.id)
      }
    }
  })

  test('of callers reach an upstream of Converse as they are, which judges them itself', async () => {
    const upstream = await openUpstream(response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(UPSTREAMS['converse']!.whole({ text: 'Well.' })))
    })
    const gateway = await openGateway([channelAt(upstream.address, { format: 'converse', baseUrl: upstream.address })])
    for (const [name, messages] of HISTORIES) {
      upstream.seen.length = 0
      const answer = await gateway.send('/model/m/converse', { messages, toolConfig: TOOLS }).answer
      await textOf(answer)
      expect(answer.statusCode, name).toBe(200)
      expect(JSON.parse(upstream.seen[0]!.text).messages, name).toEqual(messages)
    }
  })
})
