import { foreignLosses, Losses, type Written } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer, WireRequest } from '../../canonical/wire.ts'
import { contentsDialect } from '../../formats/dialects/contents.ts'
import { nativeBodyOf } from '../native.ts'
import { countable } from '../usage/input-usage.ts'
import type { WriteOptions } from '../writer.ts'
import { FORMAT, nativeExtras, withExtras } from './fields.ts'
import { nativeRequest } from './native.ts'
import { pathOf } from './path.ts'
import { writeRequest } from './request.ts'
import { byModality } from './usage.ts'

/**
 * Writes a request for a token count (docs/wire/contents.md#token-counting). The Gemini API accepts `contents` or one
 * wrapped request. Google Cloud expects all fields at the top level of the body.
 */
export function writeCounting(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const native = nativeRequest(original, options)
  if (native !== undefined) return native
  const losses = new Losses()
  const dialect = contentsDialect(options.dialect)
  const request = countable(original, losses, ['cache', 'parallelToolCalls', 'state'])
  const written = writeRequest(request, options)
  const { body } = written.wire
  const path = pathOf(request.model, 'countTokens', dialect)
  const wrappedBody = { generateContentRequest: { model: `models/${request.model}`, ...body } }
  const wire = { ...written.wire, path, body: dialect.vertex === true ? body : wrappedBody }
  return { ...written, wire, losses: [...losses.list, ...written.losses] }
}

/** Writes a token count as `{totalTokens, …}`. */
export function writeCounted(result: CanonicalResult): Written<WireAnswer> {
  const native = nativeBodyOf(result, FORMAT, {})
  if (native !== undefined) return { wire: { status: 200, headers: {}, body: native }, losses: [] }
  const losses = new Losses(foreignLosses(result, FORMAT))
  const { usage } = result
  if (usage?.input === undefined) losses.add(['usage'], { input: 0 }, 'count-required')
  if (usage?.inputBy?.embedding !== undefined) losses.drop(['usage', 'inputBy', 'embedding'], 'no-such-count')
  const body = withExtras(nativeExtras(result), {
    totalTokens: usage?.input ?? 0,
    cachedContentTokenCount: usage?.cacheRead,
    promptTokensDetails: byModality(usage?.inputBy),
  })
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}
