import { GatewayError } from '../../src/canonical/error.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { unfold } from '../../src/canonical/fold.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { type CanonicalResult, rankedAsRequested } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { type Work, workOf } from '../../src/canonical/work.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { essentialLosses, lossHeaders, shownLosses } from '../../src/egress/losses.ts'
import { FORMAT_FACTS } from '../../src/formats/index.ts'
import { prepare } from '../../src/gateway/prepare.ts'
import { READERS } from '../../src/ingress/index.ts'
import type { Target } from '../../src/upstreams/router.ts'
import { channelAt } from '../builders/config.ts'
import { formatsWith, handedTo } from './support.ts'
import { WORKS } from './works.ts'

/* What the gateway does with a value after it was read: every step of a request before it is sent, and of an answer. */

/** Runs work. A failure that is reported is fine, a bug is not. */
export function orRefused<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.error.kind !== 'internal') return undefined
    throw thrown
  }
}

/** A target of an upstream's format. */
export const targetOf = (from: string, to: string, upstreamModel: string): Target => {
  const channel = channelAt('http://127.0.0.1:1', { format: to })
  return { channel, format: channel.formats[0]!, native: from === to, emulated: false, upstreamModel, resting: false }
}

const SAID: CanonicalResult = {
  id: 'a',
  model: 'm',
  createdAt: 1,
  candidates: [
    {
      content: [
        { type: 'text', text: 'a' },
        { type: 'tool-call', id: 'c', name: 'f', arguments: '{}' },
      ],
      finish: { reason: 'stop' },
    },
  ],
  usage: { input: 1, output: 1 },
}

/** Whether upstreams of a format do a kind of work. */
export const does = (format: string, work: Work): boolean => FORMAT_FACTS.get(format)?.does.includes(work) === true

/**
 * Runs all steps on a request before it is sent, and on its answer.
 *
 * @param targets formats of the upstreams; all that do the work by default.
 */
export function journey(from: string, request: CanonicalRequest, targets = upstreamsFor(workOf(request))): void {
  const work = workOf(request)
  for (const to of targets) {
    for (const model of [request.model, 'other']) {
      const prepared = orRefused(() => prepare(handedTo(to, request), targetOf(from, to, model)))
      if (prepared === undefined) continue
      JSON.stringify(prepared.wire.body)
      lossHeaders(shownLosses(prepared.losses))
      essentialLosses(prepared.losses, request)
      READERS[from]!.locate?.(request)(['messages', 0, 'content', 0])
    }
  }
  told(from, WORKS[work] === undefined || work === 'conversation' ? SAID : { ...SAID, candidates: [] }, request)
}

/** Returns an answer as its caller gets it, whole and streamed. */
export function told(to: string, result: CanonicalResult, asked: CanonicalRequest): void {
  const writer = WRITERS[to]!
  const headed = { ...result, id: result.id ?? 'a', model: result.model ?? 'm', createdAt: result.createdAt ?? 1 }
  orRefused(() => JSON.stringify(writer.result!(rankedAsRequested(headed, asked), asked).wire.body))
  streamedTo(to, unfold(headed), asked)
}

/** Writes a stream for a caller. Undefined if the format has no streams or refuses this one. */
export function streamedTo(
  to: string,
  events: Iterable<CanonicalEvent>,
  asked: CanonicalRequest,
): readonly WireEvent[] | undefined {
  const machine = WRITERS[to]!.events?.(asked)
  return machine === undefined ? undefined : orRefused(() => drain(machine, events))
}

/** Formats of upstreams that do a kind of work. */
export const upstreamsFor = (work: Work): readonly string[] =>
  formatsWith('request').filter(format => does(format, work))

/** Formats in which answers to a kind of work are written. */
export const writersFor = (work: Work): readonly string[] =>
  upstreamsFor(work).filter(format => WRITERS[format]!.result !== undefined)
