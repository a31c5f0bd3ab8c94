import { randomBytes } from 'node:crypto'
import { hashOf } from '../config/hash.ts'
import type { KeySecret } from '../store/access-records.ts'

/** How the secrets of each kind begin. */
export type SecretKind = 'il' | 'iladm'

/** A fresh secret of 256 bits, which is shown once, and what is stored of it. `now` is Unix time in milliseconds. */
export function freshSecret(
  kind: SecretKind,
  now: number,
): { readonly text: string; readonly secret: Omit<KeySecret, 'expiresAt'> } {
  const text = `${kind}-${randomBytes(32).toString('base64url')}`
  const prefix = text.slice(0, kind.length + 1 + SHOWN)
  return { text, secret: { hash: hashOf(text), prefix, lastFour: text.slice(-SHOWN), createdAt: now } }
}

/** Characters of a secret that are kept for recognition, at either end. */
const SHOWN = 4
