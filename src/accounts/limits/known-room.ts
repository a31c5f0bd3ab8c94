import { levelNow } from './bucket.ts'
import { hasSameLimits, type KeyLimits, type LimitState, type LimitStep } from './engine.ts'

/** Number of times that the steps without an answer must fit into what is left, because other processes take from it, too. */
const AMPLE_STEPS = 16
/** Maximum age of what is known, in milliseconds. */
const MAX_AGE_MS = 10_000

/** Room of a key in shared counts: the latest report, less the steps that are sent and not yet answered. */
export class KnownRoom {
  private readonly limits: KeyLimits
  private state: LimitState = {}
  private learntAt = Number.NEGATIVE_INFINITY
  /** Sums of the steps that are not answered yet. */
  private requests = 0
  private tokens = 0
  private slots = 0
  private cost = 0

  constructor(limits: KeyLimits) {
    this.limits = limits
  }

  /** Returns true if this is the room of a key with these limits. */
  isAbout(limits: KeyLimits): boolean {
    return hasSameLimits(limits, this.limits)
  }

  /** Returns true if there is ample room for a step. */
  covers({ limits, requests, tokens, cost, enter }: LimitStep, now: number): boolean {
    const { requests: requestsLeft, tokens: tokensLeft, room } = this.state
    return (
      this.isAbout(limits) &&
      now - this.learntAt <= MAX_AGE_MS &&
      isAmple(limits.rpm, requestsLeft, this.requests + requests) &&
      isAmple(limits.tpm, tokensLeft, this.tokens + tokens) &&
      isAmple(limits.concurrent, room?.concurrent, this.slots + (enter === undefined ? 0 : 1)) &&
      isAmple(limits.day, room?.day, this.cost + cost) &&
      isAmple(limits.month, room?.month, this.cost + cost)
    )
  }

  /** Records a step that was sent. */
  sent(step: LimitStep): void {
    this.add(step, 1)
  }

  /** Records that a step that was sent is answered or lost. */
  settled(step: LimitStep): void {
    this.add(step, -1)
  }

  private add({ requests, tokens, cost, enter }: LimitStep, times: 1 | -1): void {
    this.requests += times * requests
    this.tokens += times * tokens
    this.cost += times * cost
    if (enter !== undefined) this.slots += times
  }

  /** Records the state that an answer reports. */
  learn(state: LimitState, now: number): void {
    this.state = state
    this.learntAt = now
  }

  /** Returns the state after the steps that were sent. */
  expected(now: number): LimitState {
    const { state, limits, learntAt } = this
    return {
      requests: lessTaken(levelNow(state.requests, limits.rpm, now - learntAt), this.requests),
      tokens: lessTaken(levelNow(state.tokens, limits.tpm, now - learntAt), this.tokens),
      room: {
        concurrent: lessTaken(state.room?.concurrent, this.slots),
        day: lessTaken(state.room?.day, this.cost),
        month: lessTaken(state.room?.month, this.cost),
      },
    }
  }
}

const isAmple = (limit: number | undefined, left: number | undefined, wanted: number): boolean =>
  limit === undefined || (left !== undefined && left >= AMPLE_STEPS * wanted && left > 0)

const lessTaken = (level: number | undefined, taken: number): number | undefined =>
  level === undefined ? undefined : level - taken
