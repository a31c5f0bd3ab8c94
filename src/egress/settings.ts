import type { Losses } from '../canonical/loss.ts'
import type { Json } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Settings } from '../canonical/settings.ts'

/** Writes the request's settings as body fields. Settings that the format lacks are reported as losses. */
export function writeSettings(
  { written }: Settings,
  request: CanonicalRequest,
  losses: Losses,
): { [wire: string]: Json } {
  const body: { [wire: string]: Json } = {}
  for (const { at, field, wire, lossReason: lost } of written) {
    const node = (at === 'request' ? request : request[at]) as { readonly [field: string]: Json | undefined }
    const value = node[field]
    if (value === undefined) continue
    if (wire !== undefined) body[wire] = value
    else losses.drop(at === 'request' ? [field] : [at, field], lost)
  }
  return body
}
