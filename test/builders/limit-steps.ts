import fc from 'fast-check'
import type { KeyLimits, LimitStep } from '../../src/accounts/limits/engine.ts'

const DAY = 86_400_000

/** One event of a limit test: time passes, or one of a few requests takes a step. */
export interface Happening {
  /** Time passed in milliseconds. Negative if the clock is set back. */
  readonly pause: number
  readonly step: LimitStep
  /** Time since the cost that the step corrects was reserved, in milliseconds. */
  readonly reservedBefore: number | undefined
}

/** Returns the step of an event and its time. */
export function taken({ pause, step, reservedBefore }: Happening, before: number): { now: number; step: LimitStep } {
  // Slots are leases in Redis. None expires as long as all events happen within one lease.
  const now = before + (step.limits.concurrent === undefined ? pause : Math.min(pause, 700))
  return { now, step: reservedBefore === undefined ? step : { ...step, reservedAt: now - reservedBefore } }
}

/**
 * Pauses of interest: within a minute, over several minutes, over the end of a day or a month, and clocks that are set
 * back.
 */
const pauses = fc.oneof(
  { weight: 6, arbitrary: fc.nat(5000) },
  { weight: 2, arbitrary: fc.nat(300_000) },
  { weight: 1, arbitrary: fc.nat(40 * DAY) },
  { weight: 1, arbitrary: fc.nat(40 * DAY).map(back => -back) },
)

const limitsOf = (fields: readonly (keyof KeyLimits)[]): fc.Arbitrary<KeyLimits> =>
  fc
    .record(
      {
        rpm: fc.integer({ min: 0, max: 20 }),
        tpm: fc.integer({ min: 0, max: 5000 }),
        concurrent: fc.integer({ min: 0, max: 4 }),
        day: fc.integer({ min: 0, max: 3e15 }),
        month: fc.integer({ min: 0, max: 9e15 - 1 }),
      },
      { requiredKeys: [...fields] },
    )
    .map(limits => Object.fromEntries(fields.map(field => [field, limits[field]])) as KeyLimits)

const FIELDS = ['rpm', 'tpm', 'concurrent', 'day', 'month'] as const
const INITIAL = { day: 5e11, month: 7e12, at: Date.UTC(2026, 10, 22, 12) }

/** Random steps of one key, whose limits sometimes change. The set of limits stays the same. */
export const happenings = (key: string): fc.Arbitrary<readonly Happening[]> =>
  fc.subarray([...FIELDS]).chain(fields =>
    fc.array(limitsOf(fields), { minLength: 1, maxLength: 3 }).chain(limits =>
      fc.array(
        fc
          .record({
            pause: pauses,
            limits: fc.constantFrom(...limits),
            requests: fc.nat(2),
            tokens: fc.integer({ min: -2000, max: 3000 }),
            cost: fc.integer({ min: -1e15, max: 2e15 }),
            kind: fc.constantFrom('enter', 'reserve', 'settle', 'leave' as const),
            place: fc.nat(6),
            reservedBefore: fc.option(fc.nat(2 * DAY), { nil: undefined }),
            hasInitial: fc.boolean(),
            raisesSpend: fc.boolean(),
          })
          .map(({ pause, limits, requests, tokens, cost, kind, place, hasInitial, raisesSpend, reservedBefore }) => {
            const enforced = kind === 'enter' || kind === 'reserve'
            return {
              ...{ pause, reservedBefore: enforced ? undefined : reservedBefore },
              step: {
                ...{ key, limits, enforced },
                requests: kind === 'enter' ? requests : 0,
                tokens: enforced ? Math.abs(tokens) : tokens,
                cost: enforced ? Math.abs(cost) : cost,
                ...(kind === 'enter' ? { enter: `o.${place}` } : {}),
                ...(kind === 'leave' || kind === 'settle' ? { leave: `o.${place}` } : {}),
                ...(hasInitial ? { initial: INITIAL } : {}),
                ...(hasInitial && raisesSpend ? { raisesSpend: true as const } : {}),
              },
            } satisfies Happening
          }),
        { maxLength: 60, size: 'max' },
      ),
    ),
  )
