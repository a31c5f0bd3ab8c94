import { foreign, Losses, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer, WireRequest } from '../../canonical/wire.ts'
import { kept, spelt } from '../fields.ts'
import { countable, countedTokens } from '../usage/countable.ts'
import type { WriteOptions } from '../writer.ts'
import { FORMAT } from './content.ts'
import { writeRequest } from './request.ts'

/** The endpoint that counts tokens. */
const PATH = '/responses/input_tokens'

/** A request whose tokens are to be counted, as `POST /responses/input_tokens` (FORMATS §4). */
export function writeCounting(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  if (options.native) return writeRequest(original, options)
  const losses = new Losses()
  const request = countable(original, losses, ['cache', 'state'])
  const { wire, losses: lost, ...written } = writeRequest(request, options)
  // Nothing is answered, so storage and inclusions do not apply.
  const { store: _, include: __, ...body } = wire.body
  const others = lost.filter(({ reason }) => reason !== 'minted-no-storage')
  return { ...written, wire: { ...wire, path: PATH, body }, losses: [...losses.list, ...others] }
}

/** The number of tokens of a request, as `{object, input_tokens}`. */
export function writeCounted(result: CanonicalResult): Written<WireAnswer> {
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  const { object = 'response.input_tokens' } = spelt(result, FORMAT)
  const body = {
    ...(object === 'absent' ? {} : { object }),
    input_tokens: countedTokens(result, losses),
    ...kept(result, FORMAT),
  } as JsonObject
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}
