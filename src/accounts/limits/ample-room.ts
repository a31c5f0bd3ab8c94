import type { KeyLimits, LimitState } from './engine.ts'

/** Number of times that amounts must fit into the rest of a limit, because other processes take from it, too. */
const AMPLE = 16

/** Amounts that a process wants of a key's limits. */
export interface WantedAmounts {
  readonly requests: number
  readonly tokens: number
  readonly slots: number
  readonly cost: number
}

/** Returns true if every limit of a key has ample room for the amounts. */
export const hasAmpleRoom = (
  limits: KeyLimits,
  { requests, tokens, room }: LimitState,
  wanted: WantedAmounts,
): boolean =>
  isAmple(limits.rpm, requests, wanted.requests) &&
  isAmple(limits.tpm, tokens, wanted.tokens) &&
  isAmple(limits.concurrent, room?.concurrent, wanted.slots) &&
  isAmple(limits.day, room?.day, wanted.cost) &&
  isAmple(limits.month, room?.month, wanted.cost)

/**
 * Returns true if one limit has ample room.
 *
 * @param limit undefined if the limit does not apply.
 * @param left rest of the limit, or undefined if it is unknown.
 */
export const isAmple = (limit: number | undefined, left: number | undefined, wanted: number): boolean =>
  limit === undefined || (left !== undefined && left > 0 && left >= AMPLE * wanted)
