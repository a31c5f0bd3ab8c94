import type { CanonicalRequest } from '../canonical/request.ts'
import { workOf } from '../canonical/work.ts'
import type { Candidate } from '../router.ts'
import { prepare } from './prepare.ts'

/**
 * Whether a request may be sent while its form still comes: whoever may answer it takes forms as the caller writes them.
 * A task is stored first, with all its form holds.
 */
export function mayFlow(request: CanonicalRequest, route: () => readonly Candidate[]): boolean {
  if (workOf(request) === 'video') return false
  let candidates: readonly Candidate[]
  try {
    candidates = route()
  } catch {
    // No candidate can answer it, which needs no file to be found out.
    return true
  }
  return candidates.every(one => one.native && !one.emulated && prepare(request, one).wire.files !== undefined)
}
