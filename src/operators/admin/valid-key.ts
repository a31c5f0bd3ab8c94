import type { KeySettings } from '../../config/index.ts'

/** Returns true if requests of a key are accepted at a time: it is enabled, not revoked and not expired. */
export const isValidKey = (key: KeySettings & { readonly revokedAt?: number }, now: number): boolean =>
  key.enabled && key.revokedAt === undefined && (key.expiresAt ?? Number.POSITIVE_INFINITY) > now
