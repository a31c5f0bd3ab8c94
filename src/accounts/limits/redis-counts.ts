import type { RedisLink } from '../../store/cluster/redis.ts'
import { levelNow } from './bucket.ts'
import { type LimitState, type LimitStep, refusalBy } from './engine.ts'
import { PROBE, RELEASE, RENEW, STEP } from './redis-script.ts'
import type { SharedCounts } from './shared-engine.ts'
import { DAYS, MONTHS } from './spend.ts'

/** Duration of a slot's lease in Redis, in milliseconds. */
const LEASE_MS = 45_000
/** Interval between renewals of the leases, in milliseconds. */
const RENEWAL_INTERVAL_MS = 15_000
/** Pause before a failed release is retried, in milliseconds. */
const RETRY_DELAY_MS = 500
/** Number of leases renewed per script run. */
const BATCH_SIZE = 1000
/** Number of script runs that are sent at once. */
const RUNS_AT_ONCE = 100
/** Maximum number of remembered processes (owners) that have exited. */
const MAX_OWNERS = 1000
/** Maximum number of remembered keys per process. */
const MAX_KEYS = 100_000

/** Counts in Redis. Each step is one run of a script, timed by Redis's clock. */
export class RedisCounts implements SharedCounts {
  readonly acceptsPossiblyCounted = false
  private readonly link: RedisLink
  private readonly now: () => number
  /** Keys of the slots that this instance holds, by slot name. */
  private readonly slots = new Map<string, string>()
  /** Keys in which other processes hold slots, by owner. */
  private readonly keysOfOwners = new Map<string, Set<string>>()
  /** Processes that have exited but whose final steps may still arrive. */
  private readonly endedOwners = new Set<string>()
  /** Keys whose slots must be released, by owner. */
  private readonly pendingReleases = new Map<string, Set<string>>()
  private readonly timer: NodeJS.Timeout
  private retry: NodeJS.Timeout | undefined

  /** @param now returns the Unix time in milliseconds, used to compute the end of a budget period. */
  constructor(link: RedisLink, now: () => number = Date.now) {
    this.link = link
    this.now = now
    const renew = () => void this.renew().catch(() => {})
    this.timer = setInterval(renew, RENEWAL_INTERVAL_MS).unref()
    link.onConnected(renew)
  }

  get isUp(): boolean {
    return this.link.isUp
  }

  async step(step: LimitStep): Promise<LimitState> {
    const { key, limits, enter, leave } = step
    if (leave !== undefined) this.slots.delete(leave)
    const state = this.stateOf(await this.link.run(STEP, keysOf(key), argumentsOf(step, this.now())), step)
    if (enter !== undefined && limits.concurrent !== undefined && state.refused === undefined && !state.unknown)
      this.recordSlot(enter, key)
    return state
  }

  /**
   * Returns true if Redis may have counted the step. An error reply, which starts with its kind, means that nothing was
   * counted.
   */
  mayBeCounted(thrown: unknown): boolean {
    return !(thrown instanceof Error && /^[A-Z]{2,} /.test(thrown.message))
  }

  /** Checks that Redis accepts changes, and renews this instance's slots in case Redis lost them. */
  async probe(): Promise<void> {
    await this.link.run(PROBE, [PROBE_KEY], [])
    await this.renew()
  }

  /** Stops renewing a slot that another process releases. */
  forget(slot: string): void {
    this.slots.delete(slot)
  }

  /** Records that another process, the owner, holds slots of a key. */
  noteOwner(owner: string, key: string): void {
    let keys = this.keysOfOwners.get(owner)
    if (keys === undefined) this.keysOfOwners.set(owner, (keys = new Set()))
    if (keys.size < MAX_KEYS) keys.add(key)
  }

  /** Releases all slots of an owner as soon as Redis is reachable. */
  leaveAll(owner: string): void {
    const keys = this.keysOfOwners.get(owner) ?? new Set()
    for (const [name, key] of this.slots)
      if (isSlotOf(owner, name)) {
        this.slots.delete(name)
        keys.add(key)
      }
    this.keysOfOwners.delete(owner)
    if (this.endedOwners.size >= MAX_OWNERS) this.endedOwners.delete(this.endedOwners.keys().next().value!)
    this.endedOwners.add(owner)
    this.pendingReleases.set(owner, keys)
    this.releaseSoon()
  }

  close(): void {
    clearInterval(this.timer)
    clearTimeout(this.retry)
  }

  private recordSlot(name: string, key: string): void {
    const owner = name.slice(0, name.indexOf('.'))
    if (!this.endedOwners.has(owner)) {
      this.slots.set(name, key)
      return
    }
    this.pendingReleases.set(owner, (this.pendingReleases.get(owner) ?? new Set()).add(key))
    this.releaseSoon()
  }

  private releaseSoon(): void {
    clearTimeout(this.retry)
    this.release().catch(() => {
      this.retry = setTimeout(() => this.releaseSoon(), RETRY_DELAY_MS).unref()
    })
  }

  /** Releases the slots of ended owners. */
  private async release(): Promise<void> {
    for (const [owner, keys] of this.pendingReleases) {
      await inGroups([...keys], async key => {
        await this.link.run(RELEASE, [keysOf(key)[1]!], [`${owner}.`])
        keys.delete(key)
      })
      if (keys.size === 0) this.pendingReleases.delete(owner)
    }
  }

  /** Renews the leases of all slots. Runs the script even without slots, to check that scripts run. */
  private async renew(): Promise<void> {
    await this.release()
    if (this.slots.size === 0) await this.link.run(RENEW, [], [`${LEASE_MS}`])
    const slotsByKey = Map.groupBy(this.slots, ([, key]) => key)
    await inGroups([...slotsByKey], ([key, slots]) => this.renewSlotsOf(key, slots))
  }

  /** Renews the slots of one key. A script has one key, because those of a cluster are in different hash slots. */
  private async renewSlotsOf(key: string, slots: readonly (readonly [name: string, key: string])[]): Promise<void> {
    for (let from = 0; from < slots.length; from += BATCH_SIZE) {
      // A slot released in the meantime must not be renewed.
      const names = slots.slice(from, from + BATCH_SIZE).flatMap(([name]) => (this.slots.has(name) ? [name] : []))
      const keys = names.map(() => keysOf(key)[1]!)
      await this.link.run(RENEW, keys, [`${LEASE_MS}`, ...names])
    }
  }

  private stateOf(reply: unknown, { limits }: LimitStep): LimitState {
    if (!Array.isArray(reply)) throw new Error('Redis sent an unexpected reply to a step')
    if (reply.length === 0) return { unknown: true }
    const [refused, requests, tokens, requestsWait, tokensWait, full, day, month, ...left] = reply.map(String)
    const now = this.now()
    return {
      refused:
        refused === '1'
          ? refusalBy(
              Number(requestsWait),
              Number(tokensWait),
              full === '1',
              day === '1' ? DAYS.remaining(now) : 0,
              month === '1' ? MONTHS.remaining(now) : 0,
            )
          : undefined,
      requests: limits.rpm === undefined ? undefined : Number(requests),
      tokens: limits.tpm === undefined ? undefined : Number(tokens),
      room: roomOf(limits, left),
    }
  }
}

/** Does work for all values, for some of them at once. */
async function inGroups<T>(values: readonly T[], work: (value: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < values.length; from += RUNS_AT_ONCE)
    await Promise.all(values.slice(from, from + RUNS_AT_ONCE).map(work))
}

/** Room in slots and budgets, as the script reports it. */
const roomOf = ({ concurrent, day, month }: LimitStep['limits'], left: readonly string[]): LimitState['room'] => ({
  concurrent: concurrent === undefined ? undefined : Number(left[0]),
  day: day === undefined ? undefined : Number(left[1]),
  month: month === undefined ? undefined : Number(left[2]),
})

/** The Redis key that probes write. */
const PROBE_KEY = 'interlingua:limits:probe'

/** Returns the Redis keys for a key's counts and slots. The braces place both on the same node of a cluster. */
const keysOf = (key: string): readonly string[] => [`interlingua:limits:{${key}}`, `interlingua:limits:{${key}}:places`]

/** Returns the arguments of the `STEP` script, in order. */
const argumentsOf = ({ limits, initial, atMost, ...step }: LimitStep, now: number): readonly string[] => [
  ...[limits.rpm, limits.tpm, limits.concurrent, limits.day, limits.month].map(text),
  ...[step.requests, step.tokens, step.cost, step.enter, step.leave].map(text),
  step.enforced ? '1' : '0',
  // The age of a reservation, because this machine's clock may differ from Redis's.
  text(step.reservedAt === undefined ? undefined : Math.max(0, now - step.reservedAt)),
  ...[initial?.day, initial?.month, initial?.at, LEASE_MS].map(text),
  text(levelNow(atMost?.requests, limits.rpm, now - (atMost?.at ?? now))),
  text(levelNow(atMost?.tokens, limits.tpm, now - (atMost?.at ?? now))),
  step.raisesSpend === true ? '1' : '',
]

/** Returns true if a slot name belongs to an owner. */
const isSlotOf = (owner: string, name: string): boolean => name.startsWith(`${owner}.`)

const text = (value: string | number | undefined): string => (value === undefined ? '' : `${value}`)
