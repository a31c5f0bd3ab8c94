import type { Database } from './tables.ts'

/** Locks that serialise transactions across processes. */
export type LockName = 'pictures' | 'client-secret' | 'captures' | 'console' | 'tokens'

/**
 * Acquires a lock that is held until the transaction ends. Must be the first statement of the transaction.
 *
 * @returns the number of times the lock has been acquired, including this time.
 */
export async function lock(transaction: Database, name: LockName): Promise<number> {
  const { turn } = await transaction
    .insertInto('locks')
    .values({ name, turn: 1 })
    .onConflict(conflict => conflict.column('name').doUpdateSet(({ eb }) => ({ turn: eb('locks.turn', '+', 1) })))
    .returning('turn')
    .executeTakeFirstOrThrow()
  return Number(turn)
}
