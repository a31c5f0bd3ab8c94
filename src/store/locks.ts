import type { Database } from './tables.ts'

/** What transactions of several processes do one after the other. */
export type LockName = 'pictures' | 'client-secret' | 'captures' | 'console' | 'tokens'

/**
 * Takes a lock until the end of a transaction, of which it must be the first statement. The result is how often it was
 * taken, this time included.
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
