import * as v from 'valibot'
import { defined } from '../canonical/node.ts'
import { suggestion } from '../config/faults.ts'
import type { Budget, LimitSettings } from '../config/types.ts'
import { DOORS } from '../providers/index.ts'
import { invalidInput } from './problem.ts'
import { describedAs, fields, list, money, oneOf, text, whole } from './schema.ts'

/** Names are checked by `checkDoors`, which suggests others. */
const doorName = describedAs(text(), { enum: [...DOORS.keys()] })

const budget = fields({
  day: v.nullish(money),
  month: v.nullish(money),
  unknown: v.nullish(oneOf(['allow', 'refuse'])),
})

/** What a key or a group may be allowed, as it is written; null stands for no such field. */
export const permissionFields = {
  models: v.nullish(list(text())),
  doors: v.nullish(list(doorName)),
  rpm: v.nullish(whole()),
  tpm: v.nullish(whole()),
  concurrent: v.nullish(whole()),
  budget: v.nullish(budget),
  on_loss: v.nullish(oneOf(['show', 'refuse'])),
}

interface WrittenLimits {
  readonly rpm?: number | null | undefined
  readonly tpm?: number | null | undefined
  readonly concurrent?: number | null | undefined
  readonly budget?:
    | {
        readonly day?: number | null | undefined
        readonly month?: number | null | undefined
        readonly unknown?: Budget['unknown'] | null | undefined
      }
    | null
    | undefined
}

/** Limits with those that were written; what was written as null is none any more, what was not stays. */
export function changedLimits(before: LimitSettings, written: WrittenLimits): LimitSettings {
  const { rpm, tpm, concurrent } = before
  const day = merged(before.budget?.day, written.budget === null ? null : written.budget?.day)
  const month = merged(before.budget?.month, written.budget === null ? null : written.budget?.month)
  const unknown = merged(before.budget?.unknown, written.budget === null ? null : written.budget?.unknown)
  const budget = defined({ day, month, unknown })
  return defined({
    rpm: merged(rpm, written.rpm),
    tpm: merged(tpm, written.tpm),
    concurrent: merged(concurrent, written.concurrent),
    budget: Object.keys(budget).length === 0 ? undefined : budget,
  })
}

/** A field after a change: null removes it. */
export const merged = <T>(before: T | undefined, written: T | null | undefined): T | undefined =>
  written === undefined ? before : (written ?? undefined)

/** Throws Problem for the unknown name of a format. */
export function checkDoors(doors: readonly string[] | null | undefined): void {
  for (const [index, door] of (doors ?? []).entries())
    if (!DOORS.has(door))
      throw invalidInput({ pointer: `/doors/${index}`, detail: `unknown format${suggestion(door, DOORS.keys())}` })
}

/** Limits as an answer has them. */
export const limitsView = ({ rpm, tpm, concurrent, budget }: LimitSettings) => ({ rpm, tpm, concurrent, budget })
