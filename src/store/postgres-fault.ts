/** Reason why the store currently cannot be used. Callers and operators see this value. */
export type StoreFault = 'full' | 'read-only' | 'locked' | 'damaged' | 'unreachable' | 'failing' | 'newer'

/**
 * PostgreSQL's error codes (appendix A of its manual): exact codes, then classes of two characters. Codes that are not
 * listed are bugs of the gateway.
 */
const BY_SQLSTATE: { readonly [code: string]: StoreFault } = {
  '53100': 'full', // disk_full
  '53300': 'unreachable', // too_many_connections
  '25006': 'read-only', // read_only_sql_transaction: a standby
  '42501': 'unreachable', // insufficient_privilege
  '42P01': 'damaged', // undefined_table
  '42703': 'damaged', // undefined_column
  '55000': 'unreachable', // object_not_in_prerequisite_state: the database accepts no connections
  '55P03': 'locked', // lock_not_available
  '40P01': 'locked', // deadlock_detected
  '40001': 'locked', // serialization_failure
  '57014': 'locked', // query_canceled: statement timeout
  '25P03': 'unreachable', // idle_in_transaction_session_timeout
  '25P04': 'unreachable', // transaction_timeout, which an operator of PostgreSQL 17 or later may set
  '3D000': 'unreachable', // invalid_catalog_name: no such database
  '3F000': 'unreachable', // invalid_schema_name: the search path names no schema
  '08': 'unreachable', // connection exception
  '28': 'unreachable', // invalid authorization specification
  '53': 'failing', // insufficient resources
  '57': 'unreachable', // operator intervention: shutdown, or not started yet
  '58': 'failing', // system error
  XX: 'damaged', // internal error, data corrupted
}

/** Node's error codes for connections and certificates. Each means that the server is unreachable. */
const SOCKETS: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'],
  ...['ENETUNREACH', 'EADDRNOTAVAIL', 'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'ERR_TLS_CERT_ALTNAME_INVALID'],
])

/** Messages of the driver and of Kysely that have no error code. */
const CONNECTION_LOST = [
  /^Connection terminated/,
  /^timeout e(xpired|xceeded)/,
  /^Query read timeout/,
  /not queryable$/,
  /SSL connection/,
  /^Cannot use a pool after calling end/,
  /^driver has already been destroyed/,
  /^SASL/,
]

/** Thrown if a new database could not store the texts of every language. */
export class WrongEncoding extends Error {
  override readonly name = 'WrongEncoding'

  constructor(encoding: string) {
    super(`the database has the encoding ${encoding}, which lacks most characters: create one with encoding 'UTF8'`)
  }
}

/** Classifies an error of a PostgreSQL server. Returns undefined for a bug of the gateway. */
export function postgresFault(thrown: Error & { readonly code?: unknown }): StoreFault | undefined {
  if (thrown instanceof WrongEncoding) return 'unreachable'
  const { message, code } = thrown
  if (typeof code !== 'string') return CONNECTION_LOST.some(one => one.test(message)) ? 'unreachable' : undefined
  if (SOCKETS.has(code)) return 'unreachable'
  return /^[0-9A-Z]{5}$/.test(code) ? (BY_SQLSTATE[code] ?? BY_SQLSTATE[code.slice(0, 2)]) : undefined
}

/**
 * Returns true if the server rolled the transaction back because of a deadlock or serialization failure. The caller can
 * safely retry it.
 */
export const isUndone = (thrown: unknown): boolean =>
  thrown instanceof Error && ['40P01', '40001'].includes((thrown as { code?: string }).code ?? '')

/** Makes an error safe to log by removing the server's detail fields, which contain values of rows. */
export function loggable(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !('severity' in thrown)) return thrown
  const { message, stack } = thrown
  return Object.assign(new Error(message), { code: (thrown as { code?: unknown }).code, stack })
}
