import { randomBytes } from 'node:crypto'
import { hashOf } from '../config/hash.ts'
import type { KeySecret } from '../store/access-records.ts'

/** Prefixes of secrets: API keys and admin tokens. */
export type SecretKind = 'il' | 'iladm'

/**
 * Creates a secret of 256 random bits. Returns the secret, which is shown once, and the values that are stored of it.
 *
 * @param now Unix time in milliseconds.
 */
export function freshSecret(
  kind: SecretKind,
  now: number,
): { readonly text: string; readonly secret: Omit<KeySecret, 'expiresAt'> } {
  const text = `${kind}-${randomBytes(32).toString('base64url')}`
  const prefix = text.slice(0, kind.length + 1 + SHOWN)
  return { text, secret: { hash: hashOf(text), prefix, lastFour: text.slice(-SHOWN), createdAt: now } }
}

/** Number of characters stored of either end of a secret, to recognise it in lists. */
const SHOWN = 4
