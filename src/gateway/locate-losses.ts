import type { Loss, Path } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { lossHeaders } from '../egress/losses.ts'
import { bodyPaths, READERS } from '../ingress/index.ts'
import type { Locate } from '../ingress/locate.ts'
import type { Call } from './call.ts'
import type { Stored } from './stored/index.ts'

/** What of an attempt decides where its caller finds a loss. */
export interface Located {
  readonly call: Pick<Call, 'format'>
  readonly request: CanonicalRequest
  readonly stored: Stored | undefined
}

/**
 * Maps paths of an attempt's request to those in what the caller sent: in the body as its format has it, and for turns
 * that are stored here, under the field that points at those.
 */
export function callerPaths({ call, request, stored }: Located): Locate {
  let paths: Locate | undefined
  return path => {
    if (path[0] === 'candidates') return path
    paths ??= bodyPaths(READERS[call.format]!, call.format, request)
    return behind(paths(path), stored)
  }
}

/** The losses of an attempt's request at their paths in what the caller sent. */
export function locateLosses(losses: readonly Loss[], attempt: Located): readonly Loss[] {
  const locate = callerPaths(attempt)
  return losses.map((loss): Loss => ({ ...loss, path: locate(loss.path) }))
}

/** The headers that report losses of a request and of its answer, of which only those shown are located. */
export const headersOfLosses = (losses: readonly Loss[], attempt: Located): { readonly [name: string]: string } =>
  losses.length === 0 ? NO_HEADERS : lossHeaders(losses, callerPaths(attempt))

const NO_HEADERS: { readonly [name: string]: string } = {}

function behind(path: Path, stored: Stored | undefined): Path {
  const [field, at, ...rest] = path
  if (stored === undefined || field !== 'input' || typeof at !== 'number') return path
  return at < stored.items ? [stored.field, at, ...rest] : [field, at - stored.items, ...rest]
}
