import { deleteExpired } from './expired-rows.ts'
import type { SignatureRecord } from './shared-records.ts'
import type { Database } from './tables.ts'

/** Rows per statement: engines limit the number of parameters. */
const ROWS_PER_STATEMENT = 200

/** The repository of the accounts that issued signatures, found by the hash of a signature. */
export class SignatureRepository {
  private readonly database: Database
  private readonly now: () => number

  constructor(database: Database, now: () => number) {
    this.database = database
    this.now = now
  }

  /** Stores all records in one transaction. A later record with the same hash replaces the earlier one. */
  async put(records: readonly SignatureRecord[]): Promise<void> {
    // PostgreSQL refuses a statement that writes one row twice.
    const byHash = new Map(records.map(record => [record.hash, record]))
    const rows = [...byHash.values()]
      .map(({ hash, issuer, expiresAt }) => ({ hash, issuer, expires_at: expiresAt }))
      .sort((a, b) => (a.hash < b.hash ? -1 : 1))
    await this.database.transaction().execute(async transaction => {
      for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT)
        await transaction
          .insertInto('signatures')
          .values(rows.slice(from, from + ROWS_PER_STATEMENT))
          .onConflict(conflict =>
            conflict
              .column('hash')
              .doUpdateSet(({ ref }) => ({ issuer: ref('excluded.issuer'), expires_at: ref('excluded.expires_at') })),
          )
          .execute()
    })
  }

  /** Returns the issuers of the given hashes. Unknown hashes are missing from the result. */
  async find(hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    for (let from = 0; from < hashes.length; from += ROWS_PER_STATEMENT) {
      const rows = await this.database
        .selectFrom('signatures')
        .select(['hash', 'issuer'])
        .where('hash', 'in', hashes.slice(from, from + ROWS_PER_STATEMENT))
        .where('expires_at', '>', this.now())
        .execute()
      for (const { hash, issuer } of rows) found.set(hash, issuer)
    }
    return found
  }

  /** Returns true if any signature is stored. */
  async hasAny(): Promise<boolean> {
    const row = await this.database
      .selectFrom('signatures')
      .select('hash')
      .where('expires_at', '>', this.now())
      .limit(1)
      .executeTakeFirst()
    return row !== undefined
  }

  /** Deletes records that expired before a time, in Unix milliseconds. */
  async sweep(before: number): Promise<void> {
    await deleteExpired(this.database, 'signatures', before)
  }
}
