import type { Database } from './tables.ts'
import type { UsageGroup } from './usage-records.ts'

/** Number of keys per statement, because engines limit the number of parameters. */
const KEYS_PER_STATEMENT = 500

/**
 * Names the keys of groups as they are called now, because another key may have their former names. Keys that are not
 * stored, such as those of the config, keep the name of their latest request.
 */
export async function withCurrentNames(
  database: Database,
  groups: readonly UsageGroup[],
): Promise<readonly UsageGroup[]> {
  const ids = [...new Set(groups.flatMap(({ by }) => by.key ?? []))]
  const names = new Map<string, string>()
  for (let from = 0; from < ids.length; from += KEYS_PER_STATEMENT) {
    const keys = await database
      .selectFrom('access_keys')
      .select(['id', 'name'])
      .where('id', 'in', ids.slice(from, from + KEYS_PER_STATEMENT))
      .execute()
    for (const { id, name } of keys) names.set(id, name)
  }
  return groups.map(group => {
    const keyName = names.get(group.by.key ?? '')
    return keyName === undefined ? group : { ...group, keyName }
  })
}
