import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import { fold } from '../../../src/canonical/fold.ts'
import { lose } from '../../../src/canonical/loss.ts'
import { isObject, type Json } from '../../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import type { CanonicalResult } from '../../../src/canonical/result.ts'
import { drain } from '../../../src/canonical/transducer.ts'
import type { WireEvent } from '../../../src/canonical/wire.ts'
import { type Work, workOf } from '../../../src/canonical/work.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { eventParser } from '../../../src/ingress/transport/event-parser.ts'
import { streamsIn } from '../../builders/fixtures.ts'
import { streamed } from '../../laws/arbitrary-result.ts'
import { streamLook } from '../../laws/exceptions.ts'
import { grammarFault } from '../../laws/grammar.ts'
import { streamedTo, writersFor } from '../../laws/journeys.ts'
import { resultMeaning } from '../../laws/same.ts'
import { jobsWith, WORKS } from '../../laws/works.ts'
import type { Dice } from '../dice.ts'
import { sampled } from '../seeds.ts'
import { Broken, expectSame, type Target, type Watch } from '../target.ts'

/*
 * Streams of upstreams, as lists of events whose data is JSON. Bytes are cut anywhere. What is read follows the grammar
 * of events, whatever is missing or out of order, and every caller gets a stream that ends.
 */

export const STREAMS: readonly Target[] = jobsWith('events').map(([format, work]): Target => {
  const { asked, result } = WORKS[work]!
  return {
    name: `events:${format}-${work}`,
    inputs: `streams of upstreams in the format ${format} for ${work}`,
    files: new RegExp(`^src/ingress/${format}/(?!request|wire|settings|input|tools|index)`),
    seeds: seed => [
      ...sampled(
        streamed(result).map(({ events }) => asInput(drain(WRITERS[format]!.events!(asked), events))),
        seed,
      ),
      ...(isMain(format, work) ? streamsIn(format).map(asInput) : []),
    ],
    run: (input, watch) => {
      if (Array.isArray(input)) check(format, input as readonly Json[], asked, watch)
    },
  }
})

/** Whether the fixtures of a format are answers to this kind of work. */
const isMain = (format: string, work: Work): boolean => jobsWith('events').find(([one]) => one === format)![1] === work

/** Returns events with their data as JSON, so that mutations reach its fields. */
export const asInput = (events: readonly WireEvent[]): Json =>
  events.map(({ event, data }) => ({ ...(event === undefined ? {} : { event }), data: parsed(data) }))

function parsed(data: string): Json {
  try {
    return JSON.parse(data) as Json
  } catch {
    return data
  }
}

/** Returns the event that an item of an input stands for. Data that is a string is sent as it is. */
export function eventOf(item: Json): WireEvent {
  const { event, data } = isObject(item) ? item : { data: item }
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '')
  return typeof event === 'string' ? { event, data: text } : { data: text }
}

function check(format: string, input: readonly Json[], asked: CanonicalRequest, watch: Watch): void {
  const sent = input.map(eventOf)
  const wire = watch.unmeasured(() => isCutAnywhere(sent, watch.dice))
  const reader = READERS[format]!.events!(asked)
  const events = drain(reader, wire)
  watch.returned(events)
  watch.retained(reader)
  const fault = grammarFault(events)
  if (fault !== undefined) throw new Broken('grammar', fault)
  const result = fold(events)
  for (const event of events) if (event.type === 'error') watch.said(event.error.message)
  watch.returned(result)
  tell(watch.dice.one(writersFor(workOf(asked))), events, asked)
  if (reader.irregular !== true) watch.unmeasured(() => isRepeatable(format, events, asked))
}

/** Formats whose streams are not always read back as they were written, and the known differences. */
const UNSETTLED: { readonly [format: string]: string } = {
  contents: 'citations are not written again if a later event has other citations',
  responses: 'log probabilities are not written again if only the final response has them, and it is incomplete',
  speech: 'an answer without a byte of audio is refused',
  'cohere-chat': 'log probabilities of an answer without text are not written again',
}

/**
 * A stream that ended well is written for a caller of its own format, and read back as the same answer. Parts that only
 * the upstream's own events explain are none of its answer.
 */
function isRepeatable(format: string, events: readonly CanonicalEvent[], asked: CanonicalRequest): void {
  if (UNSETTLED[format] !== undefined || events.at(-1)?.type !== 'result-end') return
  if (events.some(event => event.type === 'part-start' && event.part.type === 'opaque')) return
  const again = fold(drain(READERS[format]!.events!(asked), drain(WRITERS[format]!.events!(asked), events)))
  const { losses } = WRITERS[format]!.result!(fold(events), asked)
  const look = streamLook(format)
  // The writer fills in the head of an answer that has none.
  const plain = (result: CanonicalResult) => resultMeaning(look(resultMeaning(result))).candidates
  expectSame('round trip', plain(again), plain(lose(fold(events), losses)))
}

/** Returns the events of a text, and checks that they are the same however its bytes are cut. */
function isCutAnywhere(sent: readonly WireEvent[], dice: Dice): readonly WireEvent[] {
  const lines = sent.map(({ event, data }) => {
    const field = event === undefined ? '' : `event: ${event}\n`
    return `${field}${data
      .split('\n')
      .map(line => `data: ${line}`)
      .join('\n')}\n\n`
  })
  const bytes = Buffer.from(lines.join(''))
  const whole = drain(eventParser(), [bytes])
  expectSame('cut bytes', drain(eventParser(), cut(bytes, dice)), whole)
  return whole
}

/** Cuts bytes at random, mostly into a few pieces. */
export function* cut(bytes: Buffer, dice: Dice): Generator<Buffer> {
  const most = dice.oneIn(8) && bytes.length < 2000 ? 4 : Math.max(1, Math.ceil(bytes.length / 2))
  for (let from = 0; from < bytes.length; ) {
    const length = 1 + dice.below(most)
    yield bytes.subarray(from, from + length)
    from += length
  }
}

/** Writes the stream for a caller of another format, whose reader takes it for a whole stream. */
function tell(to: string, events: readonly CanonicalEvent[], asked: CanonicalRequest): void {
  const written = streamedTo(to, events, asked)
  if (written === undefined || READERS[to]!.events === undefined) return
  const fault = grammarFault(drain(READERS[to]!.events!(asked), written))
  if (fault !== undefined) throw new Broken('grammar', `of the stream that was written in ${to}: ${fault}`)
}
