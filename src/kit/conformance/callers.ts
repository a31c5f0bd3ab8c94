import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from './scenario.ts'

/*
 * Callers at once. The main caller has the word `caller0` in the files of a scenario. Every other one has its own word
 * of the same length in its place, in its request and in its answer.
 */

const WORD = /caller(\d)/g

export const wordOf = (caller: number): string => `caller${caller}`

/** Returns the numbers of the callers whose words a text has. */
export const callersIn = (text: string): ReadonlySet<number> =>
  new Set([...text.matchAll(WORD)].map(([, digit]) => Number(digit)))

/** Returns the caller of a request. A request without a word counts as the main caller's. */
export const callerOf = (request: Buffer): number => callersIn(request.toString('latin1')).values().next().value ?? 0

/** Puts a caller's word in place of the main caller's. All other bytes stay as they are. */
export const inWordsOf = (caller: number, bytes: Buffer): Buffer =>
  caller === 0 ? bytes : Buffer.from(bytes.toString('latin1').replaceAll(wordOf(0), wordOf(caller)), 'latin1')

/** Returns the numbers of the callers beside the main one. */
export const callersBeside = ({ caller: { beside = 0 } }: Pick<Scenario, 'caller'>): readonly number[] =>
  Array.from({ length: beside }, (_, index) => index + 1)

/** Maximum time for which an answer waits for the requests of other callers, in milliseconds. */
const MAX_WAIT_MS = 2000
/** Time between the beginnings of two answers, in milliseconds. Streams take longer, so that they interleave. */
const INTERVAL_MS = 1

/**
 * Holds the answers of a cell until the requests of all its callers have arrived, and then releases the last one first.
 * A target that sends one request after another gets its answers after the maximum time.
 */
export class AnswerGate {
  private arrived = 0
  private readonly callers: number
  private readonly opening = Promise.withResolvers<void>()
  private timer: NodeJS.Timeout | undefined

  constructor(callers: number) {
    this.callers = callers
  }

  /** Waits until the answer to a request that has just arrived may begin. */
  async pass(): Promise<void> {
    const place = this.arrived++
    this.timer ??= setTimeout(() => this.opening.resolve(), MAX_WAIT_MS)
    if (this.arrived >= this.callers) {
      clearTimeout(this.timer)
      this.opening.resolve()
    }
    await this.opening.promise
    await sleep(Math.max(0, this.callers - place) * INTERVAL_MS)
  }
}
