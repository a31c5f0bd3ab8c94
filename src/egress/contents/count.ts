import { foreign, Losses, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer, WireRequest } from '../../canonical/wire.ts'
import { spelt } from '../fields.ts'
import { countable } from '../usage/countable.ts'
import type { WriteOptions } from '../writer.ts'
import { contentsDialect } from './dialect.ts'
import { FORMAT, withExtras } from './fields.ts'
import { pathOf, writeRequest } from './request.ts'
import { byModality } from './usage.ts'

const METHOD = 'countTokens'

/**
 * A request whose tokens are to be counted (FORMATS §7). The Gemini API takes nothing but contents beside the wrapped
 * request; Google's cloud takes everything in the body itself.
 */
export function writeCounting(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const losses = new Losses()
  const { native } = options
  const dialect = contentsDialect(options.dialect)
  const request = native ? original : countable(original, losses, ['cache', 'parallelToolCalls', 'state'])
  const written = writeRequest(request, options)
  const path = pathOf(request, METHOD, { dialect, native })
  const wraps = native ? spelt(original.output, FORMAT)['wrapped'] === true : dialect.vertex !== true
  const wire = { ...written.wire, path, body: wraps ? wrapped(request, written.wire.body, native) : written.wire.body }
  return { ...written, wire, losses: [...losses.list, ...written.losses] }
}

function wrapped(request: CanonicalRequest, body: JsonObject, native: boolean): JsonObject {
  const named = native ? body : { model: `models/${request.model}`, ...body }
  return withExtras(native ? request.output : undefined, { generateContentRequest: named })
}

/** The number of tokens of a request, as `{totalTokens, …}`. */
export function writeCounted(result: CanonicalResult): Written<WireAnswer> {
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  const { usage } = result
  if (usage?.input === undefined) losses.add(['usage'], { input: 0 }, 'count-required')
  if (usage?.inputBy?.embedding !== undefined) losses.drop(['usage', 'inputBy', 'embedding'], 'no-such-count')
  const body =
    spelt(result, FORMAT)['whole'] ??
    withExtras(result, {
      totalTokens: usage?.input ?? 0,
      cachedContentTokenCount: usage?.cacheRead,
      promptTokensDetails: byModality(usage?.inputBy),
    })
  return { wire: { status: 200, headers: {}, body: body as JsonObject }, losses: losses.list }
}
