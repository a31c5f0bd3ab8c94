import fc from 'fast-check'
import { expect } from 'vitest'
import { Limits } from '../../../src/accounts/limits/index.ts'
import type { Reservation } from '../../../src/accounts/limits/reservation.ts'
import { GatewayError } from '../../../src/canonical/error.ts'
import type { LimitSettings } from '../../../src/config/index.ts'
import { A_DAY, type Charge, type LimitsModel, START } from './model.ts'

/** The limits under test, with the reservation of each charge of the model. */
export class World {
  readonly limits: Limits
  readonly reservations = new Map<Charge, Reservation>()
  private readonly settings: readonly LimitSettings[]

  /** @param settings what the permissions of each key say. */
  constructor(model: LimitsModel, settings: readonly LimitSettings[]) {
    this.settings = settings
    this.limits = new Limits({
      now: () => model.now,
      spent: async (key, at) => {
        if (!model.isStoreUp) throw new Error('The store cannot be read.')
        return model.stored(model.keys[Number(key)]!, at)
      },
    })
  }

  reservation(key: number): Reservation {
    return this.limits.of(`${key}`, this.settings[key]!)
  }
}

type Command = fc.AsyncCommand<LimitsModel, World>

/** Whether the limits admit the step. */
async function isAdmitted(step: () => void | Promise<void>): Promise<boolean> {
  try {
    await step()
    return true
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GatewayError)
    return false
  }
}

const chosen = (model: LimitsModel, which: number): Charge | undefined => {
  const open = model.keys.flatMap(key => key.open())
  return open[which % Math.max(1, open.length)]
}

/** A command on one of the open requests. */
abstract class OnOpenRequest implements Command {
  protected readonly which: number

  constructor(which: number) {
    this.which = which
  }

  check = (model: Readonly<LimitsModel>): boolean => chosen(model as LimitsModel, this.which) !== undefined

  async run(model: LimitsModel, { reservations }: World): Promise<void> {
    const charge = chosen(model, this.which)!
    await this.act(model, charge, reservations.get(charge)!)
  }

  protected abstract act(model: LimitsModel, charge: Charge, reservation: Reservation): Promise<void> | void
}

/** A request enters, and reserves its expected tokens and cost, unless it fails before that. */
class Begin implements Command {
  private readonly key: number
  private readonly expected: { readonly input: number; readonly output: number; readonly cost: number } | undefined

  constructor(key: number, expected: Begin['expected']) {
    this.key = key
    this.expected = expected
  }

  check = (): boolean => true

  async run(model: LimitsModel, world: World): Promise<void> {
    const key = model.keys[this.key]!
    const reservation = world.reservation(this.key)
    const charge = model.enter(key)
    expect(await isAdmitted(() => reservation.enter()), 'enter').toBe(charge !== undefined)
    if (charge === undefined) return reservation.leave()
    world.reservations.set(charge, reservation)
    if (this.expected === undefined) return
    const { input, output, cost } = this.expected
    const isIn = model.reserve(charge, input, output, cost)
    const reserve = () =>
      reservation.reserve(
        () => ({ input, output }),
        Number.POSITIVE_INFINITY,
        () => cost,
      )
    expect(await isAdmitted(reserve), 'reserve').toBe(isIn)
    if (isIn) return
    model.settle(charge, 0, 0)
    reservation.settleUncounted()
  }

  toString = (): string => `Begin(${this.key}, ${JSON.stringify(this.expected)})`
}

/** A request goes to a dearer model. */
class Cover extends OnOpenRequest {
  private readonly cost: number

  constructor(which: number, cost: number) {
    super(which)
    this.cost = cost
  }

  /** The additional cost counts on the day on which it is reserved, and here that is the day of the reservation. */
  override check = (model: Readonly<LimitsModel>): boolean => {
    const charge = chosen(model as LimitsModel, this.which)
    return charge?.isReserved === true && Math.floor(charge.at / A_DAY) === Math.floor(model.now / A_DAY)
  }

  protected async act(model: LimitsModel, charge: Charge, reservation: Reservation): Promise<void> {
    const isCovered = model.cover(charge, this.cost)
    expect(await isAdmitted(() => reservation.cover(() => this.cost)), 'cover').toBe(isCovered)
  }

  toString = (): string => `Cover(${this.which}, ${this.cost})`
}

/** A request ends. Its output is 0, so that the average size of answers stays. */
class Settle extends OnOpenRequest {
  private readonly tokens: number
  private readonly cost: number

  constructor(which: number, tokens: number, cost: number) {
    super(which)
    this.tokens = tokens
    this.cost = cost
  }

  protected act(model: LimitsModel, charge: Charge, reservation: Reservation): void {
    model.settle(charge, this.tokens, this.cost)
    reservation.settle({ input: this.tokens, output: 0 }, this.cost)
    reservation.leave()
  }

  toString = (): string => `Settle(${this.which}, ${this.tokens}, ${this.cost})`
}

/** Time passes. */
class Wait implements Command {
  private readonly milliseconds: number

  constructor(milliseconds: number) {
    this.milliseconds = milliseconds
  }

  check = (): boolean => true

  async run(model: LimitsModel): Promise<void> {
    model.now += this.milliseconds
  }

  toString = (): string => `Wait(${this.milliseconds})`
}

/** Somebody sets the clock by a day or an hour. It stays within two days, as many as the counts remember. */
class SetClock implements Command {
  private readonly by: number

  constructor(by: number) {
    this.by = by
  }

  check = (model: Readonly<LimitsModel>): boolean => {
    const day = Math.floor((model.now + this.by) / A_DAY) - Math.floor(START / A_DAY)
    return day === 0 || day === 1
  }

  async run(model: LimitsModel): Promise<void> {
    model.now += this.by
  }

  toString = (): string => `SetClock(${this.by})`
}

/** The store stops or starts to answer. */
class SwitchStore implements Command {
  check = (): boolean => true

  async run(model: LimitsModel): Promise<void> {
    model.isStoreUp = !model.isStoreUp
  }

  toString = (): string => 'SwitchStore()'
}

/** A quarter of a minute: a whole number of units of every limit per minute of the test. */
const QUARTER = 15_000

const which = fc.nat(20)
const cost = fc.nat(60)
const expected = fc.record({ input: fc.nat(300), output: fc.nat(300), cost })

/** @param keys number of keys. */
export const common = (keys: number): fc.Arbitrary<Command>[] => [
  fc.tuple(fc.nat(keys - 1), fc.option(expected, { nil: undefined, freq: 10 })).map(given => new Begin(...given)),
  fc.tuple(which, fc.nat(600), cost).map(given => new Settle(...given)),
  fc.tuple(which, cost).map(given => new Cover(...given)),
  fc.nat(6).map(quarters => new Wait(quarters * QUARTER)),
  fc.constant(new SwitchStore()),
]

/** Clocks that are set. Buckets per minute treat a clock that is set back as one that stood still. */
export const clocks: fc.Arbitrary<Command>[] = [
  fc.constantFrom(-A_DAY, A_DAY, -A_DAY / 24, A_DAY / 24).map(by => new SetClock(by)),
]
