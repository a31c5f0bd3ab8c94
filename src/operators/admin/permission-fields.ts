import * as v from 'valibot'
import { defined, definedIfAny } from '../../canonical/node.ts'
import { suggestion } from '../../config/faults.ts'
import { fields, list, money, oneOf, text, whole } from '../../config/schema.ts'
import type { Budget, LimitSettings } from '../../config/types.ts'
import { CALLER_FORMATS } from '../../formats/index.ts'

/** The name of a caller format. */
const formatName = v.picklist([...CALLER_FORMATS.keys()], ({ input }) =>
  typeof input === 'string'
    ? `unknown format${suggestion(input.slice(0, MAX_NAME_LENGTH), CALLER_FORMATS.keys())}`
    : 'expected a string',
)
/** Maximum length of an unknown name for which a similar name is suggested, in characters. */
const MAX_NAME_LENGTH = 100

const budget = fields({
  day: v.nullish(money),
  month: v.nullish(money),
  unknown: v.nullish(oneOf(['allow', 'refuse'])),
})

/** Permission fields of keys and groups in request bodies. Null removes a field. */
export const permissionFields = {
  models: v.nullish(list(text())),
  doors: v.nullish(list(formatName)),
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

/** Applies the limits of a request body. Null removes a limit, and absent fields stay unchanged. */
export function changedLimits(before: LimitSettings, changes: WrittenLimits): LimitSettings {
  const { rpm, tpm, concurrent, budget = {} } = before
  return defined({
    ...before,
    rpm: merged(rpm, changes.rpm),
    tpm: merged(tpm, changes.tpm),
    concurrent: merged(concurrent, changes.concurrent),
    budget: changes.budget === null ? undefined : changedBudget(budget, changes.budget ?? {}),
  })
}

const changedBudget = (before: Budget, changes: NonNullable<WrittenLimits['budget']>): Budget | undefined =>
  definedIfAny({
    ...before,
    day: merged(before.day, changes.day),
    month: merged(before.month, changes.month),
    unknown: merged(before.unknown, changes.unknown),
  })

/** Returns a field's value after a change. Null removes it. */
export const merged = <T>(before: T | undefined, change: T | null | undefined): T | undefined =>
  change === undefined ? before : (change ?? undefined)

/** Formats limits for answers. */
export const limitsView = ({ rpm, tpm, concurrent, budget }: LimitSettings) => ({
  ...{ rpm, tpm, concurrent },
  budget: budget && defined({ day: budget.day, month: budget.month, unknown: budget.unknown }),
})
