import { foreign, Losses, type Written } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer, WireRequest } from '../../canonical/wire.ts'
import { kept } from '../fields.ts'
import { countable, countedTokens } from '../usage/countable.ts'
import type { WriteOptions } from '../writer.ts'
import { FORMAT } from './content.ts'
import { writeRequest } from './request.ts'

/** A request whose tokens are to be counted, as `POST /v1/messages/count_tokens` (FORMATS §6). */
export function writeCounting(request: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  if (options.native) return writeRequest(request, options)
  const losses = new Losses()
  const written = writeRequest(countable(request, losses, ['state']), options)
  return {
    ...written,
    wire: { ...written.wire, path: '/v1/messages/count_tokens' },
    losses: [...losses.list, ...written.losses],
  }
}

/** The number of tokens of a request, as `{input_tokens}`. */
export function writeCounted(result: CanonicalResult): Written<WireAnswer> {
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  const body = { input_tokens: countedTokens(result, losses), ...kept(result, FORMAT) }
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}
