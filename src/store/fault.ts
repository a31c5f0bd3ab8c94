import { GatewayFailure } from '../canonical/error.ts'
import { shownStore } from '../config/store-address.ts'
import type { StoreConfig } from '../config/types.ts'
import { postgresFault, type StoreFault } from './postgres-fault.ts'

export type { StoreFault } from './postgres-fault.ts'

/** SQLite's primary result codes (sqlite.org/rescode.html). Codes that are not listed are bugs of the gateway. */
const BY_RESULT: { readonly [code: number]: StoreFault } = {
  1: 'damaged', // ERROR: a table is missing
  3: 'unreachable', // PERM
  5: 'locked', // BUSY
  6: 'locked', // LOCKED
  7: 'failing', // NOMEM
  8: 'read-only', // READONLY
  10: 'failing', // IOERR
  11: 'damaged', // CORRUPT
  13: 'full', // FULL
  14: 'unreachable', // CANTOPEN
  15: 'failing', // PROTOCOL: the file system refused all locks for ten seconds
  17: 'damaged', // SCHEMA
  22: 'full', // NOLFS: the file outgrew its file system
  26: 'damaged', // NOTADB
}

/** Faults by Node's error codes of the file system. */
const BY_CODE: { readonly [code: string]: StoreFault } = {
  ...{ ENOSPC: 'full', EDQUOT: 'full', EFBIG: 'full', EROFS: 'read-only', EIO: 'failing' },
  ...{ EACCES: 'unreachable', EPERM: 'unreachable', ENOENT: 'unreachable', ENOTDIR: 'unreachable' },
  ...{
    EEXIST: 'unreachable',
    EISDIR: 'unreachable',
    ELOOP: 'unreachable',
    EMFILE: 'unreachable',
    ENFILE: 'unreachable',
  },
  // The connection was closed during a statement.
  ERR_INVALID_STATE: 'unreachable',
}

/** Classifies an error of the database or the file system. Returns undefined for a bug of the gateway. */
export function storeFault(thrown: unknown): StoreFault | undefined {
  if (!(thrown instanceof Error)) return undefined
  const { code, errcode } = thrown as Error & { readonly code?: string; readonly errcode?: number }
  // The lowest byte of an extended result code is the primary code.
  if (code === 'ERR_SQLITE_ERROR') return BY_RESULT[(errcode ?? 0) & 0xff]
  if (thrown instanceof NewerStore) return 'newer'
  if (thrown instanceof ForeignTables) return 'unreachable'
  return code !== undefined && Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : postgresFault(thrown)
}

/** Thrown if a newer version of the program migrated the schema, because this version could damage the data. */
export class NewerStore extends Error {
  override readonly name = 'NewerStore'
}

/** Thrown if the database belongs to another program, which has a table of the same name. */
export class ForeignTables extends Error {
  override readonly name = 'ForeignTables'

  constructor(table: string) {
    super(`the table ${table} belongs to another program: give Interlingua a database or a schema of its own`)
  }
}

/** Faults during which stored data can still be read. */
export const READABLE_FAULTS: ReadonlySet<StoreFault> = new Set(['full', 'read-only', 'locked'])

/** The code of errors that the store caused. */
export const STORE_UNAVAILABLE = 'store_unavailable'

/** The error for callers while the store is unavailable: 503 with `Retry-After`, so that clients retry. */
export const storeFailure = (message: string): GatewayFailure =>
  new GatewayFailure({ kind: 'overloaded', message, code: STORE_UNAVAILABLE, retryAfterSeconds: 2 })

/** The one error for every outage. Handlers recognise the error by identity. */
export const UNAVAILABLE = storeFailure('Stored data is temporarily unavailable.')

/** Wraps an error handler so that it ignores store outages, which the store logs itself. */
export const ignoringOutages =
  <A extends readonly unknown[]>(handle: (thrown: unknown, ...more: A) => void) =>
  (thrown: unknown, ...more: A): void => {
    if (thrown !== UNAVAILABLE) handle(thrown, ...more)
  }

/**
 * Thrown if the store cannot be used. The message is for the operator: the store's address without its password, and
 * the reason.
 */
export class UnusableStore extends Error {
  override readonly name = 'UnusableStore'

  constructor(store: StoreConfig, cause: unknown) {
    super(`the store ${shownStore(store)} cannot be used: ${reasonOf(cause)}`, { cause })
  }
}

/** Adds the store's address to a fault of the store. Returns any other error unchanged. */
export const namingStore = (store: StoreConfig, thrown: unknown): unknown =>
  thrown instanceof UnusableStore || storeFault(thrown) === undefined ? thrown : new UnusableStore(store, thrown)

/** Returns the text of an error. For a host with several addresses, joins the errors of all of them. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return [...new Set(cause.errors.map(reasonOf))].join('; ')
  return cause instanceof Error ? cause.message : String(cause)
}
