import { originOf } from '../../canonical/origin.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { spelt } from '../fields.ts'
import { FORMAT } from './content.ts'

const AGENT = 'claude-code-'

/**
 * Whether the caller prints the last block of an answer, and nothing where that is no text: Claude Code and its SDK do
 * with `-p` (seen with 2.1.330 on 2026-11-22). It is recognized by its beta header and by its billing block.
 */
export function printsLastBlock(request: CanonicalRequest): boolean {
  const headers = originOf<WireRequest>(request, FORMAT)?.wire.headers
  return (
    headers?.['anthropic-beta']?.includes(AGENT) === true || spelt(request.messages[0], FORMAT)['billing'] !== undefined
  )
}
