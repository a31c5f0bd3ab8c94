import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { permissionsOf } from '../../../accounts/permissions.ts'
import type { GroupConfig, KeySettings } from '../../../config/index.ts'
import type { StoredKey } from '../../../store/access-records.ts'
import type { Administration } from '../administration.ts'
import { isFixed } from '../endpoints/groups.ts'
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
  const spent = await usage.spentByKey(now)
  const fixed = config.keys.map(key => ({ ...key, id: fixedId(key) }))
  return [...fixed, ...stored].flatMap(key => budgetOf(key, groups.get(key.group), spent.get(key.id)))
}

async function allKeys({ records }: Administration): Promise<readonly StoredKey[]> {
  const all: StoredKey[] = []
  for (let after: string | undefined; ; ) {
    const page = await records.keys({ limit: PAGE_SIZE, ...(after === undefined ? {} : { after }) })
    for (const key of page.slice(0, PAGE_SIZE)) all.push(key)
    if (page.length <= PAGE_SIZE) return all
    after = all.at(-1)!.id
    // SQLite answers without yielding, and requests of callers must not wait for all pages.
    await yieldToEventLoop()
  }
}

type IdentifiedKey = KeySettings & { readonly id: string; readonly name: string; readonly group: string }

function budgetOf(
  key: IdentifiedKey,
  group: GroupConfig | undefined,
  spent: { readonly day: number; readonly month: number } = { day: 0, month: 0 },
): readonly KeyBudget[] {
  if (group === undefined || !key.enabled) return []
  const { day, month } = permissionsOf(key, group).limits.budget ?? {}
  if (day === undefined && month === undefined) return []
  return [
    {
      ...{ key: key.id, key_name: key.name, group: key.group },
      ...(day === undefined ? {} : { day: { limit: day, spent: spent.day / NANODOLLARS } }),
      ...(month === undefined ? {} : { month: { limit: month, spent: spent.month / NANODOLLARS } }),
    },
  ]
}
