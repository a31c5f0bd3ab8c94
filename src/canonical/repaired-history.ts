import type { Loss } from './loss.ts'
import { repair, withoutRedundantParts } from './repair.ts'
import { type CanonicalRequest, isTextOnly } from './request.ts'
import { tracedToOriginal } from './trace.ts'

/** A history that writers of other formats accept. */
export interface RepairedHistory {
  readonly history: CanonicalRequest
  /** Combines the repair's losses with a writer's losses, all with paths in the original request. */
  readonly losses: (found: readonly Loss[]) => readonly Loss[]
}

/**
 * Repairs a history for another format. A history for its own format, or with only text, is left unchanged.
 *
 * @param native whether the request is sent in the format in which it was received.
 */
export function repairedHistory(
  request: CanonicalRequest,
  native: boolean,
  textOnly = isTextOnly(request),
): RepairedHistory {
  if (native || textOnly) return unrepairedHistory(request)
  const withoutRedundant = withoutRedundantParts(request)
  const repaired = repair(withoutRedundant.request)
  if (withoutRedundant.losses.length + repaired.losses.length === 0) return unrepairedHistory(repaired.request)
  const losses = (found: readonly Loss[]): readonly Loss[] => {
    const tracedLosses = tracedToOriginal(found, repaired.losses, withoutRedundant.request.messages)
    return [
      ...withoutRedundant.losses,
      ...tracedToOriginal([...repaired.losses, ...tracedLosses], withoutRedundant.losses, request.messages),
    ]
  }
  return { history: repaired.request, losses }
}

const unrepairedHistory = (history: CanonicalRequest): RepairedHistory => ({ history, losses: unchangedLosses })

const unchangedLosses = (found: readonly Loss[]): readonly Loss[] => found
