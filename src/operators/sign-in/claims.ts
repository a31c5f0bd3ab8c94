import { hashOf } from '../../config/hash.ts'
import type { OidcConfig } from '../../config/types.ts'
import type { Role } from '../../store/console-records.ts'
import { isUserName, LONGEST_NAME, userName } from './user-name.ts'

/** What a provider states of a user; `sub` names the user for good. */
export interface Claims {
  readonly sub: string
  readonly [claim: string]: unknown
}

/** The value of a claim: of that name, or at that path of names with dots between. */
export function claimIn(claims: object, path: string): unknown {
  if (Object.hasOwn(claims, path)) return (claims as Claims)[path]
  let value: unknown = claims
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Claims)[step]
  }
  return value
}

/** The role of a user, the higher of two; undefined where the user has none. */
export function roleIn(claims: Claims, { claim, roles }: Pick<OidcConfig, 'claim' | 'roles'>): Role | undefined {
  const has = new Set([claimIn(claims, claim)].flat())
  if (roles.admin.some(one => has.has(one))) return 'admin'
  return roles.viewer.some(one => has.has(one)) ? 'viewer' : undefined
}

/** Names by which a user may be shown: identity is the subject alone, so that none of them needs to be true. */
const NAMES = ['preferred_username', 'email', 'name', 'sub'] as const

/**
 * A name for a new user.
 *
 * @param isOther whether the name that the provider states is another user's.
 */
export function nameIn(claims: Claims, subject: string, isOther: boolean): string {
  const stated = NAMES.map(name => claims[name]).find(one => typeof one === 'string' && one.trim() !== '')
  const mark = ` (${hashOf(subject).slice(0, 8)})`
  const shown = userName(String(stated))
    .replaceAll(/[^\p{L}\p{M}\p{N} ._@+()-]/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .slice(0, LONGEST_NAME - mark.length)
    .toWellFormed()
    .replaceAll('\ufffd', '')
    .trim()
  if (!isUserName(shown)) return `user${mark}`
  return isOther ? shown + mark : shown
}
