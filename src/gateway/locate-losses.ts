import type { Loss, Path } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { READERS } from '../ingress/index.ts'
import type { Stored } from '../stored/index.ts'
import type { Call } from './call.ts'

/** What of an attempt decides where its caller finds a loss. */
export interface Located {
  readonly call: Pick<Call, 'format'>
  readonly request: CanonicalRequest
  readonly stored: Stored | undefined
}

/**
 * The losses of an attempt's request at their places in what the caller sent: in the body as its format has it, and where
 * they are in turns kept here, under the field that points at those.
 */
export function locateLosses(losses: readonly Loss[], { call, request, stored }: Located): readonly Loss[] {
  const locate = READERS[call.format]?.locate
  if (locate === undefined || !losses.some(({ path }) => path[0] === 'messages')) return losses
  const found = locate(request)
  return losses.map((loss): Loss => ({ ...loss, path: behind(found(loss.path), stored) }))
}

function behind(path: Path, stored: Stored | undefined): Path {
  const [field, at, ...rest] = path
  if (stored === undefined || field !== 'input' || typeof at !== 'number') return path
  return at < stored.items ? [stored.field, at, ...rest] : [field, at - stored.items, ...rest]
}
