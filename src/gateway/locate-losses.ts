import type { Loss, Path } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { lossHeaders } from '../egress/losses.ts'
import { bodyPaths, READERS } from '../ingress/index.ts'
import type { Locate } from '../ingress/locate.ts'
import type { Call } from './call.ts'
import type { FallbackOrigin } from './fallback-models.ts'
import type { StoredItems } from './stored/index.ts'

/** Fields of an attempt that determine the path of a loss in the caller's body. */
export interface LossContext {
  readonly incoming: { readonly call: Pick<Call, 'format'> }
  readonly request: CanonicalRequest
  readonly stored: StoredItems | undefined
}

/**
 * Maps paths in an attempt's canonical request to paths in the caller's body. A path into stored turns becomes a path
 * under the field that refers to them.
 */
export function callerPaths({ incoming: { call }, request, stored }: LossContext): Locate {
  let paths: Locate | undefined
  return path => {
    if (path[0] === 'candidates' || path[0] === 'usage') return path
    paths ??= bodyPaths(READERS[call.format]!, call.format, request)
    return withoutStored(paths(path), stored)
  }
}

/** Maps the paths of losses from the canonical request to the caller's body. */
export function locateLosses(losses: readonly Loss[], attempt: LossContext): readonly Loss[] {
  const locate = callerPaths(attempt)
  return losses.map((loss): Loss => ({ ...loss, path: locate(loss.path) }))
}

/**
 * Returns the headers that report the losses of a request and its answer. Locates only the losses that the headers
 * show.
 */
export const headersOfLosses = (losses: readonly Loss[], attempt: LossContext): { readonly [name: string]: string } =>
  losses.length === 0 ? NO_HEADERS : lossHeaders(losses, callerPaths(attempt))

/** Returns the header that states why a model other than the requested one answers. */
export const fallbackHeaders = ({
  fallback,
}: {
  readonly fallback: FallbackOrigin | undefined
}): { readonly [name: string]: string } =>
  fallback === undefined ? NO_HEADERS : { 'interlingua-fallback': fallback.reason }

const NO_HEADERS: { readonly [name: string]: string } = {}

function withoutStored(path: Path, stored: StoredItems | undefined): Path {
  const [field, at, ...rest] = path
  if (stored === undefined || field !== 'input' || typeof at !== 'number') return path
  return at < stored.items ? [stored.field, at, ...rest] : [field, at - stored.items, ...rest]
}
