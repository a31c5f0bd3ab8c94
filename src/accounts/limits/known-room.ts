import { hasAmpleRoom } from './ample-room.ts'
import { levelNow, sumOf } from './bucket.ts'
import { hasSameLimits, type KeyLimits, type LimitState, type LimitStep } from './engine.ts'

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
    const wanted = {
      requests: this.requests + requests,
      tokens: this.tokens + tokens,
      slots: this.slots + (enter === undefined ? 0 : 1),
      cost: this.cost + cost,
    }
    return this.isAbout(limits) && now - this.learntAt <= MAX_AGE_MS && hasAmpleRoom(limits, this.state, wanted)
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
      requests: sumOf(levelNow(state.requests, limits.rpm, now - learntAt), -this.requests),
      tokens: sumOf(levelNow(state.tokens, limits.tpm, now - learntAt), -this.tokens),
      room: {
        concurrent: sumOf(state.room?.concurrent, -this.slots),
        day: sumOf(state.room?.day, -this.cost),
        month: sumOf(state.room?.month, -this.cost),
      },
    }
  }
}
