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

/** Tokens of pictures and of words, asked and answered (FORMATS §10); how they were written is kept whole. */
export function readUsage(wire: JsonObject): Usage {
  const asked = anyObject(wire['input_tokens_details'])
  const made = anyObject(wire['output_tokens_details'])
  const told = {
    input: anyCount(wire['input_tokens']),
    output: anyCount(wire['output_tokens']),
    total: anyCount(wire['total_tokens']),
  }
  const refused = [...TAKEN].filter(field => wire[field] != null && !isRead(wire, field))
  const outer = rest(FORMAT, wire, TAKEN, undefined, refused)
  const inAsked = asked && rest(FORMAT, asked, DETAILS, undefined, misread(asked))
  const inMade = made && rest(FORMAT, made, DETAILS, undefined, misread(made))
  const extras = defined({
    ...outer.extras?.[FORMAT],
    ...defined({
      input_tokens_details: inAsked?.extras?.[FORMAT],
      output_tokens_details: inMade?.extras?.[FORMAT],
    }),
  }) as JsonObject
  return {
    ...settled(told),
    ...defined({ inputBy: byModality(asked), outputBy: byModality(made) }),
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
