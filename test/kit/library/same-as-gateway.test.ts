import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { drain } from '../../../src/canonical/transducer.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { EVENT_STREAM } from '../../../src/egress/transport/sse.ts'
import { endpointPath } from '../../../src/formats/routes.ts'
import type * as library from '../../../src/kit/library/index.ts'
import { channelAt } from '../../builders/config.ts'
import { TestServer } from '../../builders/gateway.ts'
import { FakeUpstream } from '../../builders/upstream.ts'
import { asked, streamed } from '../../laws/arbitrary-result.ts'
import { plain } from '../../laws/support.ts'
import { WIRES } from '../../laws/wires.ts'
import { ALL, bundled, runBare } from './bundled.ts'
import { type ConversationFormat, FORMATS, PAIRS, requests } from './requests.ts'

/*
 * The library translates as the gateway does. Compares the library, bundled and run without anything of Node, with a
 * real gateway over HTTP, on generated requests, answers and streams.
 */

/** Number of exchanges per pair. `RUNS` sets another. */
const RUNS = Math.min(Number(process.env['RUNS'] ?? 25), 1000)

/** A gateway that remembers no reasoning of earlier exchanges, as the library does not. */
const FORGETFUL = { reasoningMemory: { retention: 0, memory: 2 ** 20 } }

let upstream: FakeUpstream
let gateways: ReadonlyMap<ConversationFormat, TestServer>
let bare: typeof library
/** What the upstream answers next. */
let answer: { readonly type: string; readonly text: string }

beforeAll(async () => {
  bare = runBare((await bundled(ALL, 'browser')).code)
  upstream = await FakeUpstream.open(response => {
    response.writeHead(200, { 'content-type': answer.type }).end(answer.text)
  })
  const opened = FORMATS.map(async format => {
    const baseUrl = format === 'messages' || format === 'contents' ? upstream.address : `${upstream.address}/v1`
    const server = await TestServer.open([channelAt(upstream.address, { format, baseUrl })], { config: FORGETFUL })
    return [format, server] as const
  })
  gateways = new Map(await Promise.all(opened))
})

afterAll(async () => {
  for (const gateway of gateways.values()) await gateway.server.close()
  await upstream.close()
})

const whole = (wire: WireRequest, stream: boolean): WireRequest =>
  wire.path.includes(':')
    ? { ...wire, path: wire.path.replace(/:\w+$/, stream ? ':streamGenerateContent' : ':generateContent') }
    : { ...wire, body: { ...wire.body, stream } }

const HEADERS = { 'anthropic-version': '2023-06-01' }

async function throughGateway(from: ConversationFormat, to: ConversationFormat, { path, body }: WireRequest) {
  const at = from === 'contents' ? `${path}?alt=sse` : endpointPath(from, path)
  const before = upstream.seen.length
  const asked = await gateways.get(to)!.ask(at, body, { headers: HEADERS })
  return { asked, seen: upstream.seen.slice(before) }
}

/* Only the gateway can have a paused model go on: it sends a second request. */

/** Returns the library's translation, or the status with which it refuses the request. */
function throughLibrary(
  from: ConversationFormat,
  to: ConversationFormat,
  { path, body, query }: WireRequest,
): library.Translation | number {
  try {
    return bare.translate(plain(body), {
      from: bare[from],
      to: bare[to],
      path,
      query: query as never,
      headers: HEADERS,
    })
  } catch (thrown) {
    const kind = (thrown as library.GatewayError).error?.kind
    if (kind === 'invalid-request') return 400
    if (kind === 'cannot-express') return 422
    throw thrown
  }
}

/** Values that differ from one call to the next: ids that are made up, and times. */
const withoutMadeUp = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, inner) =>
      /^(created|created_at|completed_at|createTime)$/.test(key) ||
      (/^(id|responseId|item_id)$/.test(key) && /[0-9a-f]{20}/.test(inner))
        ? undefined
        : inner,
    ),
  )

describe.each(PAIRS)('from %s to %s', (from, to) => {
  test('requests and whole answers', async () => {
    let compared = 0
    const exchange = fc.tuple(requests(from), WIRES[to]!.result)
    await fc.assert(
      fc.asyncProperty(exchange, async ([request, result]) => {
        const wire = whole(request, false)
        answer = { type: 'application/json', text: JSON.stringify(result) }
        const { asked, seen } = await throughGateway(from, to, wire)
        const translation = throughLibrary(from, to, wire)
        if (typeof translation === 'number') return void expect(asked.status).toBeGreaterThanOrEqual(400)
        // The gateway refuses names of models that a key may not use.
        if (seen.length === 0) return void expect([400, 404]).toContain(asked.status)
        compared++
        expect(plain(translation.body)).toEqual(JSON.parse(seen[0]!.text))
        if (asked.status !== 200 || seen.length > 1) return
        const { body } = translation.answer(result)
        expect(withoutMadeUp(body)).toEqual(withoutMadeUp(asked.json))
      }),
      { numRuns: RUNS },
    )
    expect(compared).toBeGreaterThan(0)
  })

  test('streams', async () => {
    let compared = 0
    const exchange = fc.tuple(requests(from), streamed())
    await fc.assert(
      fc.asyncProperty(exchange, async ([request, { events }]) => {
        const wire = whole(request, true)
        const sent = drain(WRITERS[to]!.events!({ ...asked, stream: true } as never), events)
        const text = sent.map(event => EVENT_STREAM.frame(event, false)).join('')
        answer = { type: 'text/event-stream', text }
        const translation = throughLibrary(from, to, wire)
        const { asked: got, seen } = await throughGateway(from, to, wire)
        if (typeof translation === 'number') return void expect(got.status).toBeGreaterThanOrEqual(400)
        if (got.status !== 200 || seen.length > 1) return
        compared++
        expect(eventsIn(await streamedBy(translation, text))).toEqual(eventsIn(got.text))
      }),
      { numRuns: RUNS },
    )
    expect(compared).toBeGreaterThan(0)
  })
})

async function streamedBy(translation: library.Translation, text: string): Promise<string> {
  const source = new Blob([text]).stream() as ReadableStream<Uint8Array>
  return new Response(source.pipeThrough(translation.stream()) as never).text()
}

const eventsIn = (text: string): unknown[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) =>
    data!.startsWith('{') ? withoutMadeUp(JSON.parse(data!) as JsonObject) : data,
  )
