import type { Role } from '../../store/console-records.ts'

/** Who a request of the admin API is from: the holder of a token, or a user who is signed in. */
export interface Principal {
  readonly kind: 'token' | 'user'
  /** The token's name, or the user's. */
  readonly name: string
  readonly role: Role
  /** SHA-256 of the token of a user's session, in hex. */
  readonly session?: string
}

/** Whether a role may do what needs another. */
export const isEnough = (role: Role, needed: Role): boolean => role === 'admin' || needed === 'viewer'
