import type { Losses } from '../../canonical/loss.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { BodyChanges } from '../native.ts'
import { sha256 } from '../sanitize/sha256.ts'
import type { WriteContext } from './context.ts'

const MAX_LENGTH = 512
/** Matches text with an email address. */
const MAIL_ADDRESS = /[^\s@]@[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,8}/i

/** Matches the ids that DeepSeek takes ("Rate Limit & Isolation", api-docs.deepseek.com, read on 2026-12-01). */
const WORD = /^[a-zA-Z0-9_-]+$/

/**
 * Returns the id of the end user. One with an email address, which Anthropic refuses, or with other characters than the
 * upstream takes is replaced with its SHA-256 (docs/wire/messages.md#request).
 */
export function writeUserId(endUser: string, { dialect, losses }: WriteContext): string | undefined {
  if (endUser.length > MAX_LENGTH) return losses.drop(['endUser'], 'too-long')
  const isTaken = !MAIL_ADDRESS.test(endUser) && (dialect.user_ids !== 'word' || WORD.test(endUser))
  return isTaken ? endUser : hashed(endUser, losses)
}

function hashed(endUser: string, losses: Losses): string {
  const hash = sha256(endUser)
  losses.change(['endUser'], hash, 'hashed')
  return hash
}

/** Returns the changed fields of a native body: its id of the end user, which Claude Code writes as JSON. */
export function withLegalUserId(
  { endUser }: CanonicalRequest,
  { metadata }: JsonObject,
  { dialect, losses }: WriteContext,
): BodyChanges {
  if (dialect.user_ids !== 'word' || endUser === undefined || !isObject(metadata) || WORD.test(endUser)) return {}
  return { metadata: { ...metadata, user_id: hashed(endUser, losses) } }
}
