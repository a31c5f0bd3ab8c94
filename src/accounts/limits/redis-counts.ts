import type { RedisLink } from '../../store/cluster/redis-link.ts'
import { refilled } from './bucket.ts'
import { type LimitState, type LimitStep, refusalBy } from './engine.ts'
import { RELEASE, RENEW, STEP } from './redis-script.ts'
import type { SharedCounts } from './shared-engine.ts'
import { DAYS, MONTHS } from './spend.ts'

/** Milliseconds for which a place is taken unless its instance renews it, and between two renewals. */
const LEASE = 45_000
const RENEWAL = 15_000
/** Milliseconds before places of an owner that ended are released again, where that failed. */
const RETRY = 500
/** Leases renewed, or keys looked through for places, by one script. */
const MOST = 1000
/** Owners that ended, and keys of an owner, that are remembered. */
const MOST_OWNERS = 1000
const MOST_KEYS = 100_000

/** The counts in Redis, one script a step, by the clock of Redis. */
export class RedisCounts implements SharedCounts {
  readonly takesDoubtful = false
  private readonly link: RedisLink
  private readonly now: () => number
  /** The places this instance has taken, and the keys they are of. */
  private readonly places = new Map<string, string>()
  /** The keys of which others have taken places, by owner. */
  private readonly keysOfOwners = new Map<string, Set<string>>()
  /** Owners that are no more; a step of theirs may still be under way. */
  private readonly ended = new Set<string>()
  /** Keys whose places are to be released, by owner. */
  private readonly releasing = new Map<string, Set<string>>()
  private readonly timer: NodeJS.Timeout
  private retry: NodeJS.Timeout | undefined

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
    const state = this.stateOf(await this.link.run(STEP, keysOf(key), argumentsOf(step, this.now())), step)
    if (enter !== undefined && limits.concurrent !== undefined && state.refused === undefined && !state.unknown)
      this.entered(enter, key)
    return state
  }

  /** An error that Redis answers with begins with its kind: then nothing was counted. */
  mayBeCounted(thrown: unknown): boolean {
    return !(thrown instanceof Error && /^[A-Z]{2,} /.test(thrown.message))
  }

  /** Renews the places too: they may have been lost meanwhile. */
  async probe(): Promise<void> {
    await this.renew()
  }

  /** Another process gives this place back. */
  forget(place: string): void {
    this.places.delete(place)
  }

  /** Another process, under that owner's name, takes places of a key by itself. */
  noteOwner(owner: string, key: string): void {
    let keys = this.keysOfOwners.get(owner)
    if (keys === undefined) this.keysOfOwners.set(owner, (keys = new Set()))
    if (keys.size < MOST_KEYS) keys.add(key)
  }

  /** Releases the places that were taken under an owner's name, once Redis can be reached. */
  leaveAll(owner: string): void {
    const keys = this.keysOfOwners.get(owner) ?? new Set()
    for (const [name, key] of this.places)
      if (isOf(owner, name)) {
        this.places.delete(name)
        keys.add(key)
      }
    this.keysOfOwners.delete(owner)
    if (this.ended.size >= MOST_OWNERS) this.ended.delete(this.ended.keys().next().value!)
    this.ended.add(owner)
    this.releasing.set(owner, keys)
    this.releaseSoon()
  }

  close(): void {
    clearInterval(this.timer)
    clearTimeout(this.retry)
  }

  private entered(name: string, key: string): void {
    const owner = name.slice(0, name.indexOf('.'))
    if (!this.ended.has(owner)) {
      this.places.set(name, key)
      return
    }
    this.releasing.set(owner, (this.releasing.get(owner) ?? new Set()).add(key))
    this.releaseSoon()
  }

  private releaseSoon(): void {
    clearTimeout(this.retry)
    this.release().catch(() => {
      this.retry = setTimeout(() => this.releaseSoon(), RETRY).unref()
    })
  }

  /** Releases places of owners that are no more. */
  private async release(): Promise<void> {
    for (const [owner, keys] of this.releasing) {
      const all = [...keys]
      for (let from = 0; from < all.length; from += MOST) {
        const some = all.slice(from, from + MOST)
        await this.link.run(
          RELEASE,
          some.map(key => keysOf(key)[1]!),
          [`${owner}.`],
        )
        for (const key of some) keys.delete(key)
      }
      if (keys.size === 0) this.releasing.delete(owner)
    }
  }

  /** Renews the leases of all places at once, also where there are none, to see whether scripts run. */
  private async renew(): Promise<void> {
    await this.release()
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

const argumentsOf = ({ limits, initial, atMost, ...step }: LimitStep, now: number): readonly string[] => [
  ...[limits.rpm, limits.tpm, limits.concurrent, limits.day, limits.month].map(text),
  ...[step.requests, step.tokens, step.cost, step.enter, step.leave].map(text),
  step.enforced ? '1' : '0',
  ...[step.reservedAt, initial?.day, initial?.month, initial?.at, LEASE].map(text),
  text(levelNow(atMost?.requests, limits.rpm, now - (atMost?.at ?? now))),
  text(levelNow(atMost?.tokens, limits.tpm, now - (atMost?.at ?? now))),
]

const levelNow = (level: number | undefined, limit: number | undefined, elapsed: number): number | undefined =>
  level === undefined || limit === undefined ? undefined : refilled(level, limit, elapsed)

/** Whether a place's name is that of an owner. */
const isOf = (owner: string, name: string): boolean => name.startsWith(`${owner}.`)

const text = (value: string | number | undefined): string => (value === undefined ? '' : `${value}`)
