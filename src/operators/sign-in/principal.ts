import type { Role } from '../../store/console-records.ts'

/** The authenticated sender of an admin API request: an admin token or a signed-in user. */
export interface Principal {
  readonly kind: 'token' | 'user'
  /** Name of the token or of the user. */
  readonly name: string
  readonly role: Role
  /** SHA-256 in hex of the user's session token. */
  readonly session?: string
}

/** Returns true if a role includes the needed role. */
export const hasRole = (role: Role, needed: Role): boolean => role === 'admin' || needed === 'viewer'
