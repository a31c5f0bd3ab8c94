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
  if (native || textOnly) return unrepaired(request)
  const less = withoutRedundantParts(request)
  const repaired = repair(less.request)
  if (less.losses.length + repaired.losses.length === 0) return unrepaired(repaired.request)
  const losses = (found: readonly Loss[]): readonly Loss[] => {
    const ofRepaired = tracedToOriginal(found, repaired.losses, less.request.messages)
    return [...less.losses, ...tracedToOriginal([...repaired.losses, ...ofRepaired], less.losses, request.messages)]
  }
  return { history: repaired.request, losses }
}

const unrepaired = (history: CanonicalRequest): RepairedHistory => ({ history, losses: unmoved })

const unmoved = (found: readonly Loss[]): readonly Loss[] => found
