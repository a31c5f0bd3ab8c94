import { randomBytes } from 'node:crypto'
import { hashOf } from '../config/hash.ts'
import type { KeySecret } from '../store/access-records.ts'

/** Prefixes of secrets: API keys and admin tokens. */
export type SecretKind = 'il' | 'iladm'

/**
 * Creates a secret of 256 random bits. Returns the secret, which is only shown once, and the values to store.
 *
 * @param now Unix time in milliseconds.
 */
export function freshSecret(
  kind: SecretKind,
  now: number,
): { readonly text: string; readonly secret: Omit<KeySecret, 'expiresAt'> } {
  const text = `${kind}-${randomBytes(32).toString('base64url')}`
  const prefix = text.slice(0, kind.length + 1 + SHOWN_LENGTH)
  return { text, secret: { hash: hashOf(text), prefix, lastFour: text.slice(-SHOWN_LENGTH), createdAt: now } }
}

/** Number of characters stored from each end of a secret, to identify it in lists. */
const SHOWN_LENGTH = 4
