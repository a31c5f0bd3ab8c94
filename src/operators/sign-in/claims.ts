import { hashOf } from '../../config/hash.ts'
import type { OidcConfig } from '../../config/types.ts'
import type { Role } from '../../store/console-records.ts'
import { isUserName, MAX_NAME_LENGTH, userName } from './user-name.ts'

/** Claims about a user from the identity provider. `sub` identifies the user permanently. */
export interface Claims {
  readonly sub: string
  readonly [claim: string]: unknown
}

/** Returns the value of a claim by its name or dotted path. */
export function claimIn(claims: object, path: string): unknown {
  if (Object.hasOwn(claims, path)) return (claims as Claims)[path]
  let value: unknown = claims
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Claims)[step]
  }
  return value
}

/** Returns the user's role: the highest if several apply, undefined if none does. */
export function roleIn(claims: Claims, { claim, roles }: Pick<OidcConfig, 'claim' | 'roles'>): Role | undefined {
  const has = new Set([claimIn(claims, claim)].flat())
  if (roles.admin.some(one => has.has(one))) return 'admin'
  return roles.viewer.some(one => has.has(one)) ? 'viewer' : undefined
}

/**
 * Claims that can serve as display names, best first. They need not be trustworthy, because only the subject identifies
 * a user.
 */
const NAMES = ['preferred_username', 'email', 'name', 'sub'] as const

/**
 * Derives the name of a new user from the claims.
 *
 * @param isTaken true if the name in the claims already belongs to another user.
 */
export function nameIn(claims: Claims, subject: string, isTaken: boolean): string {
  const displayName = NAMES.map(name => claims[name]).find(one => typeof one === 'string' && one.trim() !== '')
  const suffix = ` (${hashOf(subject).slice(0, 8)})`
  const normalizedName = userName(String(displayName))
    .replaceAll(/[^\p{L}\p{M}\p{N} ._@+()-]/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .slice(0, MAX_NAME_LENGTH - suffix.length)
    .toWellFormed()
    .replaceAll('\ufffd', '')
    .trim()
  if (!isUserName(normalizedName)) return `user${suffix}`
  return isTaken ? normalizedName + suffix : normalizedName
}
