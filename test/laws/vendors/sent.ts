import type { JsonObject } from '../../../src/canonical/node.ts'
import { repair } from '../../../src/canonical/repair.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { hostDialect } from '../../../src/formats/known-hosts.ts'
import { formatFor } from '../../../src/formats/models.ts'
import { PRESETS } from '../../../src/formats/presets.ts'
import { handedTo } from '../support.ts'
import { withFetchedMedia } from './fetched.ts'
import type { StrictVendor } from './vendor.ts'

/** How a request reached the gateway. */
interface Origin {
  /** True if the caller speaks the vendor's format. */
  readonly native: boolean
  /** The model that the caller named. Defaults to the vendor's. */
  readonly callerModel?: string
}

/** Returns the body that the gateway sends to a vendor for a request. */
export function sentTo(vendor: StrictVendor, request: CanonicalRequest, origin: Origin): JsonObject {
  const { preset, format } = vendor
  const row = PRESETS.get(preset)!.formats.find(one => one.format === format) ?? {
    format,
    baseUrl: vendor.baseUrl ?? '',
  }
  // A voice that the vendor lacks is refused by the gateway itself.
  const { voices: _, ...dialect } = row.dialect ?? hostDialect(format, row.baseUrl ?? '')
  const channel = { baseUrl: '', auth: 'bearer', headers: {}, query: {}, ...row, dialect } as const
  const { native } = origin
  const { dialect: flags, otherModel = false } = formatFor(channel, { model: request.model, ...origin })
  const fetched = withFetchedMedia(request, { ...channel, dialect: flags }, native)
  const repaired = native ? fetched : repair(handedTo(format, fetched)).request
  return WRITERS[format]!.request!(repaired, { native, dialect: flags, otherModel }).wire.body
}

/** Returns the rules of a vendor for which it refuses a body that the gateway has to mend. Empty if it accepts it. */
export const refusedBy = ({ refusals }: StrictVendor, body: JsonObject, model: string, { native }: Origin): string[] =>
  refusals.filter(one => (!native || one.native) && one.refuses(body, model)).map(one => one.error)
