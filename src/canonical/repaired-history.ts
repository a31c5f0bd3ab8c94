import type { Loss } from './loss.ts'
import { repair, withoutRedundantParts } from './repair.ts'
import { type CanonicalRequest, isTextOnly } from './request.ts'
import { tracedToOriginal } from './trace.ts'

/** A history that another format can write. */
export interface RepairedHistory {
  readonly history: CanonicalRequest
  /** Adds the losses of the repair to a writer's losses, and maps all of them to paths in the original request. */
  readonly losses: (found: readonly Loss[]) => readonly Loss[]
}

/**
 * Repairs a history for another format. A history for its own format, and one of texts alone, is written as it is.
 *
 * @param native whether the request goes out in the format in which it came in.
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
