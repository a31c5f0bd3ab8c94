import { once } from 'node:events'
import type { Socket } from 'node:net'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { Client } from 'pg'

/** How a statement fails. */
export type How =
  /** The database refuses it. The transaction is open. */
  | 'refused'
  /** The database refuses it and has rolled the transaction back, as SQLite may on a full disk. */
  | 'rolled back'
  /** The connection is lost before the server got it. */
  | 'lost'
  /** The connection is lost after the server ran it. */
  | 'lost afterwards'

/** Lets one statement of the store fail. */
export class FailingStatements {
  /** Number of statements until the one that fails, or 0 if none does. */
  private rest = 0
  private how: How = 'refused'
  private readonly prepare = DatabaseSync.prototype.prepare
  private readonly query = Client.prototype.query

  constructor() {
    const isNext = () => this.isNext()
    const howNow = () => this.how
    const { prepare, query } = this
    DatabaseSync.prototype.prepare = function (this: DatabaseSync, text: string): StatementSync {
      return failingStatement(this, prepare.call(this, text), isNext, howNow)
    }
    // biome-ignore lint/suspicious/noExplicitAny: the driver's method has many signatures
    Client.prototype.query = async function (this: Client, ...given: any[]): Promise<any> {
      // biome-ignore lint/suspicious/noExplicitAny: as above
      const run = (): Promise<any> => (query as any).apply(this, given)
      if (!isNext()) return run()
      if (howNow() === 'refused') throw refusal('53100')
      if (howNow() === 'lost afterwards') await run().catch(() => {})
      const { stream } = (this as unknown as { readonly connection: { readonly stream: Socket } }).connection
      if (!stream.destroyed) await once(stream.destroy(), 'close')
      throw new Error('Connection terminated unexpectedly')
      // biome-ignore lint/suspicious/noExplicitAny: as above
    } as any
  }

  /** Lets the statement with a number fail, counted from 1. */
  failAt(number: number, how: How): void {
    this.rest = number
    this.how = how
  }

  /** Lets no statement fail. Returns true if the one that was to fail has failed. */
  disarm(): boolean {
    const hasFailed = this.rest === 0
    this.rest = 0
    return hasFailed
  }

  end(): void {
    DatabaseSync.prototype.prepare = this.prepare
    Client.prototype.query = this.query
  }

  private isNext(): boolean {
    return this.rest > 0 && --this.rest === 0
  }
}

const refusal = (code: string): Error => Object.assign(new Error('no space left on the device'), { code })

const SQLITE_FULL = { code: 'ERR_SQLITE_ERROR', errcode: 13 }

function failingStatement(
  database: DatabaseSync,
  statement: StatementSync,
  isNext: () => boolean,
  how: () => How,
): StatementSync {
  const failing =
    <T>(run: (...values: SQLInputValue[]) => T) =>
    (...values: SQLInputValue[]): T => {
      if (!isNext()) return run(...values)
      if (how() === 'rolled back' && database.isTransaction) database.exec('rollback')
      throw Object.assign(new Error('database or disk is full'), SQLITE_FULL)
    }
  return {
    columns: () => statement.columns(),
    all: failing((...values) => statement.all(...values)),
    get: failing((...values) => statement.get(...values)),
    run: failing((...values) => statement.run(...values)),
    iterate: failing((...values) => statement.iterate(...values)),
  } as unknown as StatementSync
}
