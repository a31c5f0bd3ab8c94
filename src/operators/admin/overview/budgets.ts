import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { permissionsOf } from '../../../accounts/permissions.ts'
import type { Budget, GroupConfig, KeySettings } from '../../../config/index.ts'
import type { StoredKey } from '../../../store/access-records.ts'
import type { Spent } from '../../../store/usage-records.ts'
import type { Administration } from '../administration.ts'
import { isFixed } from '../endpoints/groups.ts'
import { isValidKey } from '../valid-key.ts'
import { fixedId } from '../views.ts'

const NANODOLLARS = 1e9
const PAGE_SIZE = 200

/** An amount spent and its limit, in US dollars. */
export interface Spending {
  readonly limit: number
  readonly spent: number
}

/** The budgets of a key, with the amounts already spent. */
export interface KeyBudget {
  readonly key: string
  readonly key_name: string
  readonly group: string
  readonly day?: Spending
  readonly month?: Spending
}

/** Returns the budgets of all valid keys that have a budget of their own or from their group. */
export async function budgetsOf(gateway: Administration, now: number): Promise<readonly KeyBudget[]> {
  const { config, records, usage } = gateway
  const stored = await allKeys(gateway)
  const groups = new Map<string, GroupConfig>(config.groups)
  for (const group of await records.groups()) if (!isFixed(config, group.name)) groups.set(group.name, group)
  const fixed = config.keys.map(key => ({ ...key, id: fixedId(key) }))
  const limited = [...fixed, ...stored].flatMap(key => limitedKey(key, groups.get(key.group), now))
  const spent = await usage.spentByKey(
    limited.map(({ key }) => key.id),
    now,
  )
  return limited.map(one => budgetOf(one, spent.get(one.key.id)))
}

async function allKeys({ records }: Administration): Promise<readonly StoredKey[]> {
  const all: StoredKey[] = []
  for (let after: StoredKey | undefined; ; ) {
    const page = await records.keys({ limit: PAGE_SIZE, ...(after === undefined ? {} : { after }) })
    for (const key of page.slice(0, PAGE_SIZE)) all.push(key)
    if (page.length <= PAGE_SIZE) return all
    after = all.at(-1)
    // SQLite answers without yielding, and requests of callers must not wait for all pages.
    await yieldToEventLoop()
  }
}

type IdentifiedKey = KeySettings & { readonly id: string; readonly name: string; readonly group: string }

interface LimitedKey {
  readonly key: IdentifiedKey
  readonly budget: Budget
}

/** Returns the key with the budget that applies to it, unless there is none or the key is not valid. */
function limitedKey(key: IdentifiedKey, group: GroupConfig | undefined, now: number): readonly LimitedKey[] {
  if (group === undefined || !isValidKey(key, now)) return []
  const { budget } = permissionsOf(key, group).limits
  return budget === undefined || (budget.day ?? budget.month) === undefined ? [] : [{ key, budget }]
}

function budgetOf({ key, budget: { day, month } }: LimitedKey, spent: Spent = { day: 0, month: 0 }): KeyBudget {
  return {
    ...{ key: key.id, key_name: key.name, group: key.group },
    ...(day === undefined ? {} : { day: { limit: day, spent: spent.day / NANODOLLARS } }),
    ...(month === undefined ? {} : { month: { limit: month, spent: spent.month / NANODOLLARS } }),
  }
}
