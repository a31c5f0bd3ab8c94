import { durably } from './durable.ts'
import type { Database } from './tables.ts'

/**
 * Makes one durable change of the access records under a new version. Locking the version row first serialises changes
 * across processes and makes versions visible in order.
 *
 * @param now Unix time in milliseconds.
 * @param unchangedResult results that mean "nothing changed", for which the transaction is rolled back and uses no
 * version.
 */
export async function underNewVersion<T>(
  database: Database,
  now: number,
  work: (database: Database, version: number) => Promise<T | Unchanged<T>>,
  ...unchangedResult: readonly T[]
): Promise<T> {
  try {
    return await durably(database, async transaction => {
      const begun = Math.max(1, now)
      const { version } = await transaction
        .insertInto('access_versions')
        .values({ id: 1, begun, version: begun })
        .onConflict(conflict =>
          conflict.column('id').doUpdateSet(({ eb }) => ({ version: eb('access_versions.version', '+', 1) })),
        )
        .returning('version')
        .executeTakeFirstOrThrow()
      const result = await work(transaction, Number(version))
      if (result instanceof Unchanged) throw new RolledBack(result.result)
      if (unchangedResult.includes(result)) throw new RolledBack(result)
      return result
    })
  } catch (thrown) {
    if (thrown instanceof RolledBack) return thrown.result as T
    throw thrown
  }
}

/** The result of work that found everything as it should be. The transaction is rolled back and uses no version. */
export class Unchanged<T> {
  readonly result: T

  constructor(result: T) {
    this.result = result
  }
}

/** Thrown to roll the transaction back. Carries its result. */
class RolledBack extends Error {
  readonly result: unknown

  constructor(result: unknown) {
    super('nothing was changed')
    this.result = result
  }
}
