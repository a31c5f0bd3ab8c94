import type { CanonicalEvent } from '../canonical/event.ts'
import { append } from '../canonical/lists.ts'
import type { Loss } from '../canonical/loss.ts'
import type { Format, Json, JsonObject } from '../canonical/node.ts'
import { reduced } from '../canonical/repair.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { traced } from '../canonical/trace.ts'
import { chain } from '../canonical/transducer.ts'
import type { WireAnswer, WireEvent, WireRequest } from '../canonical/wire.ts'
import { WRITERS } from '../egress/index.ts'
import { EVENT_STREAM } from '../egress/transport/sse.ts'
import { DOORS, fitnessOf } from '../formats/index.ts'
import { READERS } from '../ingress/index.ts'
import { type Given, givenOf } from './given.ts'
import type { Pace } from './pace.ts'
import type { Kind } from './translate.ts'
import { handedTo, writing } from './wire-text.ts'

/** What a text becomes in another format. */
export interface InFormat {
  readonly text: string
  readonly losses: readonly Loss[]
  /** Where a request goes, below the base address of the format. */
  readonly path?: string
  /** The same text read again, where the format has a reader for it. */
  readonly again: () => Given | undefined
}

/** The formats that have such a thing for that kind of work. */
export const formatsFor = ({ kind, work }: Pick<Given, 'kind' | 'work'>): readonly Format[] =>
  Object.keys(WRITERS).filter(format => WRITERS[format]![kind] !== undefined && does(format, kind, work))

/** Requests go to upstreams; results and streams to callers. */
function does(format: Format, kind: Kind, work: Given['work']): boolean {
  if (kind !== 'request') return DOORS.get(format)?.includes(work) ?? false
  const fitness = fitnessOf(format, work)
  return fitness !== undefined && fitness !== 'emulated'
}

/**
 * Writes what was given in another format.
 *
 * @throws GatewayError `cannot-express` where nothing at all can be written.
 */
export async function inFormat(given: Given, to: Format, pace: Pace): Promise<InFormat> {
  const { text, losses, path } = await WRITE[given.kind](given, to, pace)
  const canRead = READERS[to]?.[given.kind] !== undefined
  return {
    ...{ text, losses: inGiven(losses, given) },
    ...(path === undefined ? {} : { path }),
    again: () =>
      canRead
        ? givenOf(text, to, given.kind, { model: given.asked.model, ...(path === undefined ? {} : { path }) })
        : undefined,
  }
}

/** A result's losses may be of what was filled in before it was written. */
const inGiven = (losses: readonly Loss[], { kind }: Given): readonly Loss[] =>
  kind === 'request' ? losses : losses.filter(({ path }) => path.length !== 1 || !Object.hasOwn(DRESS, path[0]!))

type Text = Omit<InFormat, 'again'>

const WRITE: { readonly [K in Kind]: (given: Given, to: Format, pace: Pace) => Text | Promise<Text> } = {
  request: (given, to) => {
    const request = given.value as CanonicalRequest
    const handed = handedTo(to, request)
    const options = writing(given.format, to, request.model)
    const { request: less, losses } = options.native ? { request: handed, losses: [] } : reduced(handed)
    const written = WRITERS[to]!.request!(less, options)
    const all = [...losses, ...traced(written.losses, losses, handed.messages)]
    return { text: requestText(written.wire), losses: all, path: written.wire.path }
  },
  result: (given, to) => {
    const { wire, losses } = WRITERS[to]!.result!({ ...DRESS, ...(given.value as CanonicalResult) }, given.asked)
    return { text: answerText(wire), losses }
  },
  events: async (given, to, pace) => {
    const { events, format, asked } = given
    const machine = chain<WireEvent, CanonicalEvent, WireEvent>(
      READERS[format]!.events!(asked),
      WRITERS[to]!.events!(asked),
    )
    const wire: WireEvent[] = []
    for (const event of events!) {
      await pace.step()
      append(wire, machine.push(event))
    }
    append(wire, machine.end())
    // A stream loses what the result that it amounts to would lose; where it breaks off, of what came before.
    const { error: _, ...whole } = { ...DRESS, ...(given.value as CanonicalResult) }
    const losses = WRITERS[to]!.result?.(whole, asked).losses ?? []
    return { text: wire.map((event, index) => EVENT_STREAM.frame(event, index === 0)).join(''), losses }
  },
}

/** What the gateway fills in where an upstream does not state it. */
const DRESS = { id: 'translated', createdAt: 0 }

const pretty = (value: unknown): string => JSON.stringify(value, null, 2)

/** The body alone, unless there is more to the request. */
function requestText({ path, query, headers, body, files, raw }: WireRequest): string {
  if (files === undefined && raw === undefined) return pretty(body)
  const rest = {
    ...(Object.keys(query).length === 0 ? {} : { query }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  }
  return pretty({
    path,
    ...rest,
    body,
    ...(files === undefined ? {} : { files }),
    ...(raw === undefined ? {} : { raw }),
  })
}

const answerText = ({ body, raw }: WireAnswer): string =>
  raw === undefined ? pretty(body) : 'text' in raw ? raw.text : pretty(raw as unknown as JsonObject as Json)
