import { OwnFailure } from '../canonical/error.ts'
import type { StoreFault } from './fault-kind.ts'
import { postgresFault } from './postgres-fault.ts'

export type { StoreFault } from './fault-kind.ts'

/** SQLite's primary result codes (sqlite.org/rescode.html); those left out are bugs of ours. */
const BY_RESULT: { readonly [code: number]: StoreFault } = {
  1: 'damaged', // ERROR: a table is gone
  3: 'unreachable', // PERM
  5: 'locked', // BUSY
  6: 'locked', // LOCKED
  7: 'failing', // NOMEM
  8: 'read-only', // READONLY
  10: 'failing', // IOERR
  11: 'damaged', // CORRUPT
  13: 'full', // FULL
  14: 'unreachable', // CANTOPEN
  17: 'damaged', // SCHEMA
  26: 'damaged', // NOTADB
}

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
  // The connection was closed while it was in use.
  ERR_INVALID_STATE: 'unreachable',
}

/** The fault of the store behind an error of a database or a file system; undefined for a bug of ours. */
export function storeFault(thrown: unknown): StoreFault | undefined {
  if (!(thrown instanceof Error)) return undefined
  const { code, errcode } = thrown as Error & { readonly code?: string; readonly errcode?: number }
  // Extended result codes have the primary one in their lowest byte.
  if (code === 'ERR_SQLITE_ERROR') return BY_RESULT[(errcode ?? 0) & 0xff]
  if (thrown instanceof NewerStore) return 'newer'
  return code !== undefined && Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : postgresFault(thrown)
}

/** A newer version of the program changed the structure of the store: this one could damage what it does not recognise. */
export class NewerStore extends Error {
  override readonly name = 'NewerStore'
}

/** Faults with which stored data can still be read. */
export const READABLE: ReadonlySet<StoreFault> = new Set(['full', 'read-only', 'locked'])

/** What the gateway stores cannot be had at present; clients try again by themselves. */
export const storeFailure = (message: string): OwnFailure =>
  new OwnFailure({ kind: 'overloaded', message, code: 'store_unavailable', retryAfterSeconds: 2 })

export const UNAVAILABLE = storeFailure('What is kept cannot be reached just now.')

/** A handler of faults that is not called for an outage of the store, which logs that itself. */
export const besideOutages =
  <A extends readonly unknown[]>(handle: (thrown: unknown, ...more: A) => void) =>
  (thrown: unknown, ...more: A): void => {
    if (thrown !== UNAVAILABLE) handle(thrown, ...more)
  }
