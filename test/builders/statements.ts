import { DatabaseSync } from 'node:sqlite'
import { vi } from 'vitest'

/** The connections to SQLite that are used from now on, and the statements that they compile. */
export interface Watched {
  readonly connections: Set<DatabaseSync>
  readonly statements: Set<string>
  /** Ends the watch. */
  end(): void
}

/** Watches all connections to SQLite of this process. */
export function watchStatements(): Watched {
  const connections = new Set<DatabaseSync>()
  const statements = new Set<string>()
  const prepare = DatabaseSync.prototype.prepare
  const spy = vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (
    this: DatabaseSync,
    statement: string,
  ) {
    connections.add(this)
    statements.add(statement)
    return prepare.call(this, statement)
  })
  return { connections, statements, end: () => spy.mockRestore() }
}

/** Allows no more pages on the connections, as on a full disk. Returns a function that makes room again. */
export function fillDisk({ connections }: Watched): () => void {
  const setLimit = (pages: number) => {
    for (const connection of connections) if (connection.isOpen) connection.exec(`pragma max_page_count = ${pages}`)
  }
  setLimit(1)
  return () => setLimit(1_000_000)
}
