import fc from 'fast-check'
import type { LimitSettings } from '../../../src/config/index.ts'

/** Limits as numbers, budgets in nanodollars. */
export interface Amounts {
  readonly rpm: number | undefined
  readonly tpm: number | undefined
  readonly concurrent: number | undefined
  readonly day: number | undefined
  readonly month: number | undefined
}

type Limit = keyof Amounts

const maybe = (...values: readonly number[]) => fc.constantFrom(undefined, ...values)

/** Limits that a short list of commands reaches, each a whole number of units per quarter of a minute. */
export const amounts: fc.Arbitrary<Amounts> = fc.record({
  ...{ rpm: maybe(4, 8), tpm: maybe(400, 2000), concurrent: maybe(1, 3) },
  ...{ day: maybe(60, 150), month: maybe(100, 250) },
})

/** Limits without those per minute. */
export const withoutMinutes: fc.Arbitrary<Amounts> = amounts.map(all => ({ ...all, rpm: undefined, tpm: undefined }))

/** The limits as a config has them. */
export function settingsOf({ rpm, tpm, concurrent, day, month }: Amounts): LimitSettings {
  return {
    ...(rpm === undefined ? {} : { rpm }),
    ...(tpm === undefined ? {} : { tpm }),
    ...(concurrent === undefined ? {} : { concurrent }),
    budget: {
      ...(day === undefined ? {} : { day: day / 1e9 }),
      ...(month === undefined ? {} : { month: month / 1e9 }),
    },
  }
}

/** The smaller of each limit of a key and its group. */
export function smaller(one: Amounts, other: Amounts): Amounts {
  const least = (limit: Limit): number | undefined => {
    const all = [one[limit], other[limit]].filter(amount => amount !== undefined)
    return all.length === 0 ? undefined : Math.min(...all)
  }
  return {
    ...{ rpm: least('rpm'), tpm: least('tpm'), concurrent: least('concurrent') },
    ...{ day: least('day'), month: least('month') },
  }
}
