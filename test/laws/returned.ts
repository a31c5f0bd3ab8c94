import fc from 'fast-check'
import type { Part, ReasoningPart } from '../../src/canonical/content.ts'
import { parseExactly } from '../../src/canonical/exact-numbers.ts'
import { unfold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { Message } from '../../src/canonical/request.ts'
import { type CanonicalResult, endContentOf, impliedReason } from '../../src/canonical/result.ts'
import { isLoneSignature, isUnsigned } from '../../src/canonical/signature.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { prepare } from '../../src/gateway/prepare.ts'
import { READERS } from '../../src/ingress/index.ts'
import { PATHS } from '../builders/paths.ts'
import { asked } from './arbitrary-result.ts'
import { EVERY_ECHO, eventsOf } from './echo.ts'

/* Answers that a caller gets through the gateway and returns in its history, and the request that an upstream gets. */

const TEXTS = ['Hello', 'ünï😀', '  blank', 'end \n', '{"a":1}', 'a\n\nb', '"q"\\', '<think>x</think>']
const ARGUMENTS = [
  ...['{}', '{"a":{"b":[1,2,{"c":null}]},"d":"ü😀"}', '{"__proto__":{"x":1}}', '{"input":"x"}', '{"result":"x"}'],
  ...['{"n":1187654321098765432}', '{"é":"\\u0000"}', '{"a":-0.1}'],
]
/** Ids as the upstreams of each format write them. */
const IDS: { readonly [format: string]: readonly string[] } = {
  chat: ['call_a', 'functions.f:0', '9f8a7b6c5'],
  messages: ['toolu_01A'],
  converse: ['tooluse_a-B'],
  contents: ['abc123'],
  responses: ['call_x'],
  interactions: ['ic_1'],
  'cohere-chat': ['f_1'],
}
/** Formats whose upstreams sign reasoning, and those of which hide some. */
const SIGNING: ReadonlySet<string> = new Set(['messages', 'converse', 'contents', 'responses', 'interactions'])
const HIDING: ReadonlySet<string> = new Set(['messages', 'converse'])
/** Formats whose answers have no slot for a signature, and whose calls follow all texts. */
export const BARE: ReadonlySet<string> = new Set(['chat', 'cohere-chat'])

const signature = (format: string) => fc.base64String({ minLength: 8 }).map(value => ({ format, value }))
const reasoning = (format: string): fc.Arbitrary<Part> =>
  fc.oneof(
    fc.record({
      type: fc.constant('reasoning' as const),
      text: fc.constantFrom(...TEXTS),
      signature: signature(format),
    }),
    ...(HIDING.has(format)
      ? [signature(format).map((one): Part => ({ type: 'reasoning', text: '', redacted: true, signature: one }))]
      : []),
  )
const said = (format: string): fc.Arbitrary<Part> =>
  fc.oneof(
    fc.constantFrom(...TEXTS).map((text): Part => ({ type: 'text', text })),
    fc
      .tuple(fc.constantFrom(...IDS[format]!), fc.constantFrom('f', 'get_time'), fc.constantFrom(...ARGUMENTS))
      .map(([id, name, args]): Part => ({ type: 'tool-call', id, name, arguments: args })),
  )

/**
 * Answers in which each thought stands before a text or a call, as models think.
 *
 * @param name distinguishes the ids of calls from those of another answer.
 */
export const answers = (format: string, name = ''): fc.Arbitrary<readonly Part[]> =>
  fc
    .array(
      fc
        .tuple(SIGNING.has(format) ? fc.option(reasoning(format)) : fc.constant(null), said(format))
        .map(([thought, part]) => (thought === null ? [part] : [thought, part])),
      { minLength: 1, maxLength: 4 },
    )
    .map(steps =>
      steps
        .flat()
        .map((part, at) =>
          part.type === 'tool-call' ? { ...part, id: at > 0 ? `c${at}${name}` : `${part.id}${name}` } : part,
        ),
    )

const overWire = <T extends object>(wire: T): T => parseExactly(JSON.stringify(wire)) as unknown as T
const channel = { models: { named: new Map(), patterns: [] } }
const pathOf = (format: string): string => PATHS[format] ?? (format === 'converse' ? '/model/m/converse' : '/v1')

export const read = (format: string, body: JsonObject) =>
  READERS[format]!.request!({ path: pathOf(format), query: {}, headers: {}, body: overWire(body) })

/**
 * Returns what a body says in each run of the model's turns: texts joined, without empty ones and spellings. A
 * signature that arrived after its thought belongs to it.
 */
export function turnsIn(format: string, body: JsonObject): readonly (readonly Part[])[] {
  const turns: Part[][] = []
  let before: Message['role'] | undefined
  for (const { role, content } of read(format, body).messages) {
    if (role === 'assistant' && before !== 'assistant') turns.push([])
    if (role === 'assistant') for (const part of content) addTo(turns.at(-1)!, part)
    before = role
  }
  return turns
}

function addTo(parts: Part[], { spelling: _, ...part }: Part): void {
  const last = parts.at(-1)
  if (part.type === 'text' && last?.type === 'text') parts[parts.length - 1] = { ...last, text: last.text + part.text }
  else if (isLoneSignature(part as Part) && isUnsigned(last))
    parts[parts.length - 1] = { ...last, signature: (part as ReasoningPart).signature! }
  else if (part.type !== 'text' || part.text !== '') parts.push(part as Part)
}

const ofType = (parts: readonly Part[], type: Part['type']) => parts.filter(part => part.type === type)
/** Returns what a caller without signatures can give back, in the order of its format. */
export const bare = (parts: readonly Part[]) => ({
  text: ofType(parts, 'text')
    .map(part => (part as Part & { type: 'text' }).text)
    .join(''),
  calls: ofType(parts, 'tool-call'),
})

/** An answer of an upstream, as its caller keeps it. */
export interface Kept {
  /** What the upstream gets from a client of its own that keeps the answer. */
  readonly own: readonly Part[]
  readonly whole: readonly JsonObject[]
  readonly streamed: readonly JsonObject[]
}

/** Passes an answer of an upstream to a caller, whole and streamed. */
export function kept(upstream: string, caller: string, content: readonly Part[]): Kept {
  const finish = { reason: impliedReason(endContentOf({ content })) }
  const given: CanonicalResult = { id: 'a', model: 'm', createdAt: 1, candidates: [{ content, finish }] }
  const wire = overWire(WRITERS[upstream]!.result!(given, asked).wire)
  const own = turnsIn(upstream, EVERY_ECHO[upstream]!.request(EVERY_ECHO[upstream]!.whole(wire.body))).flat()
  const told = { id: 'a', model: 'm', createdAt: 1, ...READERS[upstream]!.result!(wire, asked) }
  const whole = EVERY_ECHO[caller]!.whole(overWire(WRITERS[caller]!.result!(told, asked).wire.body))
  const events = drain(WRITERS[caller]!.events!(asked), unfold(told))
  const streamed = EVERY_ECHO[caller]!.streamed(overWire({ list: eventsOf(caller, events) }).list)
  return { own, whole, streamed }
}

/** Returns the body that an upstream gets for the body of a caller. */
export function sentTo(upstream: string, caller: string, body: JsonObject): JsonObject {
  const native = caller === upstream
  const target = { channel, format: { format: upstream, dialect: {} }, native, upstreamModel: 'm' }
  return prepare(read(caller, body), target as never).wire.body
}

export const FORMATS = Object.keys(EVERY_ECHO)
