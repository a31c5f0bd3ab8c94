import type { InitialSpend, LimitEngine, LimitStep } from '../../../src/accounts/limits/engine.ts'

/** One request of a key: what it reserves and what it costs in the end, in nanodollars. */
export interface Request {
  readonly reserved: number
  readonly cost: number
}

const KEY = 'k'
/** Slots of the key. Its budget is never reached, so that only slots refuse. */
const LIMITS = { concurrent: 2, day: 1e15 }
export const SLOTS = LIMITS.concurrent

/** What the requests of all processes have spent, and which of them were admitted. */
export class Ledger {
  spent = 0
  admitted = 0
  private count = 0
  private readonly initial: InitialSpend

  constructor(now: number) {
    this.initial = { day: 0, month: 0, at: now }
  }

  private step(fields: Partial<LimitStep>): LimitStep {
    const { initial } = this
    return { key: KEY, limits: LIMITS, requests: 0, tokens: 0, cost: 0, enforced: false, initial, ...fields }
  }

  /** Takes a slot. Undefined if none is free, else its name. */
  async enter(engine: LimitEngine, owner: string): Promise<string | undefined> {
    const slot = `${owner}.${this.count++}`
    const { refused } = await engine.step(this.step({ enter: slot, enforced: true }))
    return refused === undefined ? slot : undefined
  }

  /** Releases a slot. */
  leave(engine: LimitEngine, slot: string): Promise<unknown> {
    return Promise.resolve(engine.step(this.step({ leave: slot })))
  }

  /** Does all that a request does, one step after the other. */
  async run(engine: LimitEngine, owner: string, { reserved, cost }: Request): Promise<void> {
    const slot = await this.enter(engine, owner)
    if (slot === undefined) return
    this.admitted++
    this.spent += cost
    await engine.step(this.step({ cost: reserved, enforced: true }))
    await engine.step(this.step({ cost: cost - reserved }))
    await this.leave(engine, slot)
  }
}

export { KEY, LIMITS }
