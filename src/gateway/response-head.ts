import type { ResultEnd, ResultStart } from '../canonical/event.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { Candidate } from '../router.ts'
import type { ResponseEcho } from '../stored/response-echo.ts'
import type { Call } from './call.ts'

/**
 * What fills in the head of an answer: it always has an id and a time, and names the model as the caller knows it, by
 * the public id where the channel maps names, by the upstream's own word where it does not. What an upstream of the
 * caller's own format left out is the writer's to add.
 */
export function responseHead(
  callId: string,
  model: string,
  { native, upstreamModel }: Candidate,
  echo: ResponseEcho | undefined,
) {
  const head = <T extends CanonicalResult | ResultStart>(said: T): T => ({
    ...said,
    // A stream is put together by its id: clients lose chunks that have an empty one.
    id: said.id === '' && 'type' in said ? callId : (said.id ?? callId),
    model: upstreamModel === model ? (said.model ?? model) : model,
    createdAt: said.createdAt ?? Math.floor(Date.now() / 1000),
    ...(native ? COMPLETE : {}),
  })
  return echo === undefined ? head : <T extends CanonicalResult | ResultStart>(said: T): T => echo.apply(head(said))
}

/** Notes when an answer was whole, for formats that say so: the clock is the gateway's. */
export function timed<T extends CanonicalResult | ResultEnd>(said: T, { format }: Call): T {
  if (format !== 'responses') return said
  const spelling = {
    ...said.spelling,
    [format]: { ...said.spelling?.[format], completedAt: Math.floor(Date.now() / 1000) },
  }
  return { ...said, spelling }
}

const COMPLETE = { complete: true } as const
