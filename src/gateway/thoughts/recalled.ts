import type { Part } from '../../canonical/content.ts'
import type { Loss } from '../../canonical/loss.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { type Changes, relocated } from './relocated.ts'

/** A request with thoughts put back into it. */
export interface Recalled {
  readonly request: CanonicalRequest
  /** How many thoughts were put back. */
  readonly count: number
  /**
   * What was found lost of it, as losses of the caller's own request: each at its place in the caller's request, and behind
   * them what was put back, so that `lose` makes of the caller's request what was written.
   */
  lossesOf(found: readonly Loss[]): readonly Loss[]
}

/** The message with the changes made. */
export const changed = (message: Message, changes: Changes): Message => ({
  ...message,
  content: message.content.flatMap((part, index): readonly Part[] => {
    const { before = [], replaced } = changes.get(index) ?? {}
    return replaced ? before : [...before, part]
  }),
})

/** The request with these messages for its own, which the changes made of them, by their places. */
export function recalledBy(
  request: CanonicalRequest,
  messages: readonly Message[],
  changes: ReadonlyMap<number, Changes>,
): Recalled {
  const all = [...changes.values()].flatMap(places => [...places.values()])
  return {
    request: { ...request, messages },
    count: all.reduce((sum, { before }) => sum + before.length, 0),
    lossesOf: found => relocated(found, request, changes),
  }
}
