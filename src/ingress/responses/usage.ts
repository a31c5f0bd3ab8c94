import { type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { totalUsage, type Usage } from '../../canonical/result.ts'
import { workOf } from '../../canonical/work.ts'
import { anyObject, defined, definedIfAny } from '../fields.ts'
import { anyCount, reconcileCounts, reportedCounts } from '../usage/counts.ts'
import { countNames, readUsage as readCounts } from '../usage/openai.ts'
import { FORMAT } from './wire.ts'

const NAMES = countNames('input_tokens', 'output_tokens')

/**
 * Reads usage. Counts include cached and reasoning tokens, as in the canonical model, unless the total shows otherwise
 * (docs/wire/responses.md#usage).
 */
const readUsage = (wire: JsonObject): Usage => withWireSource(readCounts(FORMAT, wire, NAMES), FORMAT, wire)

/**
 * Reads the usage of an answer. For a request of an image, it includes the tokens of the tool that drew the image, which
 * are counted beside those of the model that called it (Wei-Shaw/sub2api#4644, July 2026).
 */
export function usageOf(body: JsonObject, request: CanonicalRequest): Usage | undefined {
  const wire = anyObject(body['usage'])
  if (wire === undefined) return undefined
  const usage = readUsage(wire)
  const ofTool = workOf(request) === 'image' ? anyObject(anyObject(body['tool_usage'])?.['image_gen']) : undefined
  return ofTool === undefined ? usage : withWireSource(totalUsage([usage, readToolUsage(ofTool)])!, FORMAT, wire)
}

/** Reads the tokens of the tool that draws images. Those of the answer are tokens of images. */
function readToolUsage(wire: JsonObject): Usage {
  const { input, output } = reconcileCounts(reportedCounts(wire))
  const details = anyObject(wire['input_tokens_details'])
  const image = anyCount(details?.['image_tokens'])
  return defined({ input, output, inputBy: definedIfAny({ image }), outputBy: definedIfAny({ image: output }) })
}
