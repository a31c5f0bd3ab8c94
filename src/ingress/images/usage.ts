import type { JsonObject } from '../../canonical/node.ts'
import type { Modality } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyNumber, anyObject, defined, rest } from '../fields.ts'
import { anyCount, settled } from '../usage/counts.ts'
import { FORMAT } from './input-images.ts'

const TAKEN = new Set([
  ...['input_tokens', 'output_tokens', 'total_tokens', 'input_tokens_details', 'output_tokens_details'],
])
const DETAILS = new Set(['text_tokens', 'image_tokens'])

/** Tokens of images and texts, of prompt and answer (FORMATS §10); how they were written is kept whole. */
export function readUsage(wire: JsonObject): Usage {
  const inputDetails = anyObject(wire['input_tokens_details'])
  const outputDetails = anyObject(wire['output_tokens_details'])
  const reported = {
    input: anyCount(wire['input_tokens']),
    output: anyCount(wire['output_tokens']),
    total: anyCount(wire['total_tokens']),
  }
  const refused = [...TAKEN].filter(field => wire[field] != null && !isRead(wire, field))
  const outer = rest(FORMAT, wire, TAKEN, undefined, refused)
  const inputNode = inputDetails && rest(FORMAT, inputDetails, DETAILS, undefined, misread(inputDetails))
  const outputNode = outputDetails && rest(FORMAT, outputDetails, DETAILS, undefined, misread(outputDetails))
  const extras = defined({
    ...outer.extras?.[FORMAT],
    ...defined({
      input_tokens_details: inputNode?.extras?.[FORMAT],
      output_tokens_details: outputNode?.extras?.[FORMAT],
    }),
  }) as JsonObject
  return {
    ...settled(reported),
    ...defined({ inputBy: byModality(inputDetails), outputBy: byModality(outputDetails) }),
    ...(Object.keys(extras).length === 0 ? {} : { extras: { [FORMAT]: extras } }),
    spelling: { [FORMAT]: { whole: wire } },
  }
}

const isRead = (wire: JsonObject, field: string): boolean =>
  field.endsWith('details') ? anyObject(wire[field]) !== undefined : anyNumber(wire[field]) !== undefined

const misread = (wire: JsonObject): string[] =>
  [...DETAILS].filter(field => wire[field] != null && anyNumber(wire[field]) === undefined)

function byModality(details: JsonObject | undefined): { [M in Modality]?: number } | undefined {
  const counts = defined({ text: anyCount(details?.['text_tokens']), image: anyCount(details?.['image_tokens']) })
  return Object.keys(counts).length === 0 ? undefined : counts
}
