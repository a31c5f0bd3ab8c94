import type { RedisLink } from '../../cluster/redis-link.ts'
import { type LimitState, type LimitStep, refusalBy } from './engine.ts'
import { RENEW, STEP } from './redis-script.ts'
import type { SharedCounts } from './shared-engine.ts'
import { DAYS, MONTHS } from './spend.ts'

/** Milliseconds for which a place is taken unless its instance renews it, and between two renewals. */
const LEASE = 45_000
const RENEWAL = 15_000
/** Leases renewed by one script. */
const MOST = 1000

/** The counts in Redis, one script a step, by the clock of Redis. */
export class RedisCounts implements SharedCounts {
  private readonly link: RedisLink
  private readonly now: () => number
  /** The places this instance has taken, and the keys they are of. */
  private readonly places = new Map<string, string>()
  private readonly timer: NodeJS.Timeout

  /** @param now Unix time in milliseconds; by it callers get the time when a budget's period ends. */
  constructor(link: RedisLink, now: () => number = Date.now) {
    this.link = link
    this.now = now
    const renew = () => void this.renew().catch(() => {})
    this.timer = setInterval(renew, RENEWAL).unref()
    link.onConnected(renew)
  }

  get isUp(): boolean {
    return this.link.isUp
  }

  async step(step: LimitStep): Promise<LimitState> {
    const { key, limits, enter, leave } = step
    if (leave !== undefined) this.places.delete(leave)
    const state = this.stateOf(await this.link.run(STEP, keysOf(key), argumentsOf(step)), step)
    if (enter !== undefined && limits.concurrent !== undefined && state.refused === undefined && !state.unknown)
      this.places.set(enter, key)
    return state
  }

  /** Renews the places too: they may have been lost meanwhile. */
  async probe(): Promise<void> {
    await this.renew()
  }

  /** Places of an instance that is no more come back by themselves. */
  leaveAll(): void {}

  close(): void {
    clearInterval(this.timer)
  }

  /** Renews the leases of all places at once, also where there are none, to see whether scripts run. */
  private async renew(): Promise<void> {
    const places = [...this.places]
    for (let from = 0; from === 0 || from < places.length; from += MOST) {
      // What was given back while others were renewed would be taken once more.
      const some = places.slice(from, from + MOST).filter(([name]) => this.places.has(name))
      const keys = some.map(([, key]) => keysOf(key)[1]!)
      await this.link.run(RENEW, keys, [`${LEASE}`, ...some.map(([name]) => name)])
    }
  }

  private stateOf(reply: unknown, { limits }: LimitStep): LimitState {
    if (!Array.isArray(reply)) throw new Error('Redis answered a step with something else')
    if (reply.length === 0) return { unknown: true }
    const [refused, requests, tokens, requestsWait, tokensWait, full, day, month] = reply.map(String)
    const now = this.now()
    return {
      refused:
        refused === '1'
          ? refusalBy(
              Number(requestsWait),
              Number(tokensWait),
              full === '1',
              day === '1' ? DAYS.left(now) : 0,
              month === '1' ? MONTHS.left(now) : 0,
            )
          : undefined,
      requests: limits.rpm === undefined ? undefined : Number(requests),
      tokens: limits.tpm === undefined ? undefined : Number(tokens),
    }
  }
}

/** The braces keep both of them on one node of a cluster. */
const keysOf = (key: string): readonly string[] => [`interlingua:limits:{${key}}`, `interlingua:limits:{${key}}:places`]

const argumentsOf = ({ limits, initial, ...step }: LimitStep): readonly string[] => [
  ...[limits.rpm, limits.tpm, limits.concurrent, limits.day, limits.month].map(text),
  ...[step.requests, step.tokens, step.cost, step.enter, step.leave].map(text),
  step.enforced ? '1' : '0',
  ...[step.reservedAt, initial?.day, initial?.month, initial?.at, LEASE].map(text),
]

const text = (value: string | number | undefined): string => (value === undefined ? '' : `${value}`)
