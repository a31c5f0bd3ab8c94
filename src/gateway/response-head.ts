import type { ResultEnd, ResultStart } from '../canonical/event.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { WRITERS } from '../egress/index.ts'
import type { Call } from './call.ts'
import type { Attempt } from './types.ts'

/**
 * The beginning of an answer with an id and a time, and the model under the caller's name for it: the public id where
 * the channel maps names, the upstream's own name otherwise. What an upstream of the caller's own format left out is
 * added by the writer.
 */
export function withHead<T extends CanonicalResult | ResultStart>(
  result: T,
  { call, request, candidate, echo }: Pick<Attempt, 'call' | 'request' | 'candidate' | 'echo'>,
): T {
  const { model } = request
  const head = {
    ...result,
    // Clients assemble a stream by its id: they lose chunks that have an empty one.
    id: result.id === '' && 'type' in result ? call.id : (result.id ?? call.id),
    model: candidate.upstreamModel === model ? (result.model ?? model) : model,
    createdAt: result.createdAt ?? Math.floor(Date.now() / 1000),
    ...(candidate.native ? COMPLETE : {}),
  }
  return echo === undefined ? head : echo.apply(head)
}

/** Adds the time of completion for formats that have a field for it: the clock is the gateway's. */
export function timed<T extends CanonicalResult | ResultEnd>(result: T, { format }: Call): T {
  if (WRITERS[format]!.completionTime !== true) return result
  const spelling = {
    ...result.spelling,
    [format]: { ...result.spelling?.[format], completedAt: Math.floor(Date.now() / 1000) },
  }
  return { ...result, spelling }
}

const COMPLETE = { complete: true } as const
