import type { CanonicalEvent } from '../canonical/event.ts'
import { append } from '../canonical/lists.ts'
import type { Loss } from '../canonical/loss.ts'
import type { Format, Json, JsonObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { chain } from '../canonical/transducer.ts'
import type { WireAnswer, WireEvent, WireRequest } from '../canonical/wire.ts'
import { WRITERS } from '../egress/index.ts'
import { EVENT_STREAM } from '../egress/transport/sse.ts'
import { CALLER_FORMATS, fitnessOf } from '../formats/index.ts'
import { READERS } from '../ingress/index.ts'
import type { Pace } from './pace.ts'
import { readSourceText, type SourceText } from './source-text.ts'
import type { Kind } from './translate.ts'
import { writtenRequest } from './written-request.ts'

/** A text translated into another format. */
export interface WrittenText {
  readonly text: string
  readonly losses: readonly Loss[]
  /** The path of a request below the format's base URL. */
  readonly path?: string
  /** Reads the translated text again. Returns undefined if the format has no reader for it. */
  readonly reread: () => SourceText | undefined
}

/** Returns the formats that have messages of this kind for this kind of work. */
export const formatsFor = ({ kind, work }: Pick<SourceText, 'kind' | 'work'>): readonly Format[] =>
  Object.keys(WRITERS).filter(format => WRITERS[format]![kind] !== undefined && isSupported(format, kind, work))

/** Returns true if the format supports the work: for upstreams if the text is a request, otherwise for callers. */
function isSupported(format: Format, kind: Kind, work: SourceText['work']): boolean {
  if (kind !== 'request') return CALLER_FORMATS.get(format)?.includes(work) ?? false
  const fitness = fitnessOf(format, work)
  return fitness !== undefined && fitness !== 'emulated'
}

/**
 * Translates a source text into another format.
 *
 * @throws GatewayError `cannot-express` if nothing of the text can be written.
 */
export async function writeInFormat(sourceText: SourceText, to: Format, pace: Pace): Promise<WrittenText> {
  const { text, losses, path } = await WRITERS_BY_KIND[sourceText.kind](sourceText, to, pace)
  const canRead = READERS[to]?.[sourceText.kind] !== undefined
  return {
    ...{ text, losses: inSourceText(losses, sourceText) },
    ...(path === undefined ? {} : { path }),
    reread: () =>
      canRead
        ? readSourceText(text, to, sourceText.kind, {
            model: sourceText.assumedRequest.model,
            ...(path === undefined ? {} : { path }),
          })
        : undefined,
  }
}

/** Leaves out losses of fields that were filled in only for writing. */
const inSourceText = (losses: readonly Loss[], { kind }: SourceText): readonly Loss[] =>
  kind === 'request'
    ? losses
    : losses.filter(({ path }) => path.length !== 1 || !Object.hasOwn(FILLED_FIELDS, path[0]!))

type Text = Omit<WrittenText, 'reread'>

const WRITERS_BY_KIND: {
  readonly [K in Kind]: (sourceText: SourceText, to: Format, pace: Pace) => Text | Promise<Text>
} = {
  request: (sourceText, to) => {
    const { wire, losses } = writtenRequest(sourceText.value as CanonicalRequest, sourceText.format, to)
    return { text: requestText(wire), losses, path: wire.path }
  },
  result: (sourceText, to) => {
    const { wire, losses } = WRITERS[to]!.result!(
      { ...FILLED_FIELDS, ...(sourceText.value as CanonicalResult) },
      sourceText.assumedRequest,
    )
    return { text: answerText(wire), losses }
  },
  events: async (sourceText, to, pace) => {
    const { events, format, assumedRequest: callerRequest } = sourceText
    const machine = chain<WireEvent, CanonicalEvent, WireEvent>(
      READERS[format]!.events!(callerRequest),
      WRITERS[to]!.events!(callerRequest),
    )
    const wire: WireEvent[] = []
    for (const event of events!) {
      await pace.step()
      append(wire, machine.push(event))
    }
    append(wire, machine.end())
    // A stream has the losses of the result that it folds to, without the error of an interrupted stream.
    const { error: _, ...whole } = { ...FILLED_FIELDS, ...(sourceText.value as CanonicalResult) }
    const losses = WRITERS[to]!.result?.(whole, callerRequest).losses ?? []
    return { text: wire.map((event, index) => EVENT_STREAM.frame(event, index === 0)).join(''), losses }
  },
}

/** Fields that the gateway fills in if the upstream does not state them. */
const FILLED_FIELDS = { id: 'translated', createdAt: 0 }

const pretty = (value: unknown): string => JSON.stringify(value, null, 2)

/** Returns the body of a request as JSON, or the complete request if it has files or a raw body. */
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
