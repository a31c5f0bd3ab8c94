import type { Amounts } from './settings.ts'

const MINUTE = 60_000
const DAY = 86_400_000
/** Time after a failed read of earlier spend in which the store is not read again, in milliseconds. */
const REST = 5000
/** Number of output tokens that a request without an output limit is expected to take. */
const TYPICAL_OUTPUT = 1000

/** One request as the model remembers it. */
export interface Charge {
  readonly key: KeyModel
  /** Time of its reservation, whose day and month it counts in. */
  at: number
  /** Nanodollars: those that the counts hold, and those of the row once the request has ended. */
  counted: number
  row: number | undefined
  /** Tokens that the request holds in the bucket. */
  tokens: number
  hasSlot: boolean
  isReserved: boolean
  isOpen: boolean
}

/** A bucket that refills steadily. */
class Level {
  private units: number
  private at: number
  private readonly perMinute: number

  constructor(perMinute: number, now: number) {
    this.perMinute = perMinute
    this.units = perMinute
    this.at = now
  }

  now(now: number): number {
    this.units = Math.min(this.perMinute, this.units + (Math.max(0, now - this.at) * this.perMinute) / MINUTE)
    this.at = now
    return this.units
  }

  take(units: number, now: number): void {
    this.units = Math.min(this.perMinute, this.now(now) - units)
  }

  /** Whether a request of this size fits. One that is larger than the bucket needs all of it. */
  fits(units: number, now: number): boolean {
    return this.now(now) >= Math.max(1, Math.min(units, this.perMinute))
  }
}

type PeriodName = 'day' | 'month'

const PERIODS: { readonly [P in PeriodName]: (at: number) => string } = {
  day: at => new Date(at).toISOString().slice(0, 10),
  month: at => new Date(at).toISOString().slice(0, 7),
}

/** The limits of one key, and everything that its requests took. */
export class KeyModel {
  readonly settings: Amounts
  readonly charges: Charge[] = []
  requests: Level | undefined
  tokens: Level | undefined
  /** Periods whose spend the counts know. A later one than all of them has spent nothing yet. */
  private readonly known: { readonly [P in PeriodName]: Set<string> } = { day: new Set(), month: new Set() }

  constructor(settings: Amounts) {
    this.settings = settings
  }

  get budgets(): readonly PeriodName[] {
    return (['day', 'month'] as const).filter(period => this.settings[period] !== undefined)
  }

  /** Whether the counts know the spend of the period of a time. */
  isKnown(period: PeriodName, now: number): boolean {
    const name = PERIODS[period](now)
    const known = this.known[period]
    const isLater = known.size > 0 && [...known].every(other => other < name)
    if (isLater) known.add(name)
    return known.has(name)
  }

  /** Whether the counts know the spend of all periods of a charge, so that they take its correction. */
  isCounted({ at }: Charge): boolean {
    return this.budgets.every(period => this.known[period].has(PERIODS[period](at)))
  }

  /** The counts take over what the rows say of the current day and month. */
  learn(now: number): void {
    for (const period of this.budgets) {
      if (this.isKnown(period, now)) continue
      this.known[period].add(PERIODS[period](now))
      for (const charge of this.charges)
        if (PERIODS[period](charge.at) === PERIODS[period](now)) charge.counted = charge.row ?? charge.counted
    }
  }

  open(): readonly Charge[] {
    return this.charges.filter(({ isOpen }) => isOpen)
  }

  slots(): number {
    return this.charges.filter(({ hasSlot }) => hasSlot).length
  }

  /** Nanodollars that count in the period of a time. */
  spent(period: PeriodName, now: number): number {
    const name = PERIODS[period](now)
    return this.charges.filter(({ at }) => PERIODS[period](at) === name).reduce((sum, { counted }) => sum + counted, 0)
  }

  hasBudgetFor(cost: number, now: number): boolean {
    return this.budgets.every(period => {
      const [spent, budget] = [this.spent(period, now), this.settings[period]!]
      return spent < budget && spent + cost <= budget
    })
  }
}

/** All keys, the clock and the store of usage rows, as simple as possible. */
export class LimitsModel {
  now = START
  isStoreUp = true
  readonly keys: readonly KeyModel[]
  private failedAt: number | undefined

  constructor(settings: readonly Amounts[]) {
    this.keys = settings.map(one => new KeyModel(one))
  }

  /** Whether the earlier spend of a key is known or can be read now. A failed read stops reads for a while. */
  private canEnforce(key: KeyModel): boolean {
    if (key.budgets.every(period => key.isKnown(period, this.now))) return true
    const { failedAt, now } = this
    const isResting = failedAt !== undefined && failedAt <= now && now < failedAt + REST
    if (!isResting && this.isStoreUp) {
      this.failedAt = undefined
      key.learn(now)
      return true
    }
    if (!isResting) this.failedAt = now
    return false
  }

  /** Counts a request. Undefined if its key's limits refuse it. */
  enter(key: KeyModel): Charge | undefined {
    const { now } = this
    const { rpm, tpm, concurrent } = key.settings
    if (rpm !== undefined) key.requests ??= new Level(rpm, now)
    if (tpm !== undefined) key.tokens ??= new Level(tpm, now)
    const isEnforced = this.canEnforce(key)
    const isFull = concurrent !== undefined && key.slots() >= concurrent
    if (isFull || !(key.requests?.fits(1, now) ?? true) || (key.tokens?.now(now) ?? 1) < 1) return undefined
    if (isEnforced && !key.hasBudgetFor(0, now)) return undefined
    key.requests?.take(1, now)
    const taken = { tokens: 0, hasSlot: concurrent !== undefined, isReserved: false, isOpen: true }
    const charge: Charge = { key, at: now, counted: 0, row: undefined, ...taken }
    key.charges.push(charge)
    return charge
  }

  /** Reserves tokens and cost of a request that entered. False if the limits refuse it. */
  reserve(charge: Charge, input: number, output: number, cost: number): boolean {
    const { key } = charge
    const { now } = this
    const tokens = key.tokens === undefined ? 0 : Math.ceil(input + Math.min(output, TYPICAL_OUTPUT))
    const isEnforced = this.canEnforce(key)
    if (key.tokens !== undefined && !key.tokens.fits(tokens, now)) return false
    if (isEnforced && !key.hasBudgetFor(cost, now)) return false
    key.tokens?.take(tokens, now)
    charge.tokens = tokens
    charge.at = now
    charge.isReserved = true
    charge.counted = isEnforced && key.budgets.length > 0 ? cost : 0
    return true
  }

  /** Raises the reserved cost to that of a dearer model. False if a budget does not cover it. */
  cover(charge: Charge, cost: number): boolean {
    if (cost <= charge.counted || charge.key.budgets.length === 0) return true
    if (!this.canEnforce(charge.key)) return true
    if (!charge.key.hasBudgetFor(cost - charge.counted, this.now)) return false
    charge.counted = cost
    return true
  }

  /** Ends a request: the real tokens and cost replace the reserved ones. */
  settle(charge: Charge, tokens: number, cost: number): void {
    const { key } = charge
    key.tokens?.take(tokens - charge.tokens, this.now)
    // A cost that was never reserved counts when it is known.
    if (!charge.isReserved) charge.at = this.now
    for (const period of key.budgets) key.isKnown(period, this.now)
    if (key.isCounted(charge)) charge.counted = cost
    Object.assign(charge, { row: cost, tokens: 0, hasSlot: false, isOpen: false })
  }

  /** Nanodollars of the rows of a key in the day and month of a time. */
  stored(key: KeyModel, at: number): { readonly day: number; readonly month: number } {
    const sum = (period: PeriodName) =>
      key.charges
        .filter(charge => PERIODS[period](charge.at) === PERIODS[period](at))
        .reduce((total, { row = 0 }) => total + row, 0)
    return { day: sum('day'), month: sum('month') }
  }
}

/** A quarter of an hour before midnight at the end of a month. */
export const START = Date.UTC(2026, 10, 30, 23, 45)
/** Length of a day, by which the clock is set forth and back. */
export const A_DAY = DAY
