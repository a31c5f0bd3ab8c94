import type { JsonObject } from '../../canonical/node.ts'
import type { Modality } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyNumber, anyObject, defined, rest, spelling } from '../fields.ts'
import { FORMAT } from './pictures.ts'

const TAKEN = new Set([
  ...['input_tokens', 'output_tokens', 'total_tokens', 'input_tokens_details', 'output_tokens_details'],
])
const DETAILS = new Set(['text_tokens', 'image_tokens'])

/** Tokens of pictures and of words, asked and answered (FORMATS §10). */
export function readUsage(wire: JsonObject): Usage {
  const asked = anyObject(wire['input_tokens_details'])
  const made = anyObject(wire['output_tokens_details'])
  const input = anyNumber(wire['input_tokens'])
  const output = anyNumber(wire['output_tokens'])
  const total = anyNumber(wire['total_tokens'])
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
  const marks = spelling({
    nulls: outer.spelling?.[FORMAT]?.['nulls'],
    input: inAsked && (inAsked.spelling?.[FORMAT] ?? {}),
    output: inMade && (inMade.spelling?.[FORMAT] ?? {}),
    counted: total === undefined ? 'apart' : undefined,
    absent: absent(input, output),
  })
  return {
    ...defined({ input, output, inputBy: byModality(asked), outputBy: byModality(made) }),
    ...(total === undefined || total === (input ?? 0) + (output ?? 0) ? {} : { total }),
    ...(Object.keys(extras).length === 0 ? {} : { extras: { [FORMAT]: extras } }),
    ...(marks === undefined ? {} : { spelling: { [FORMAT]: marks } }),
  }
}

const isRead = (wire: JsonObject, field: string): boolean =>
  field.endsWith('details') ? anyObject(wire[field]) !== undefined : anyNumber(wire[field]) !== undefined

const misread = (wire: JsonObject): string[] =>
  [...DETAILS].filter(field => wire[field] != null && anyNumber(wire[field]) === undefined)

/** Both counts are required; some vendors leave one out. */
function absent(input: number | undefined, output: number | undefined): string[] | undefined {
  const fields = [...(input === undefined ? ['input'] : []), ...(output === undefined ? ['output'] : [])]
  return fields.length === 0 ? undefined : fields
}

function byModality(details: JsonObject | undefined): { [M in Modality]?: number } | undefined {
  const counts = defined({ text: anyNumber(details?.['text_tokens']), image: anyNumber(details?.['image_tokens']) })
  return Object.keys(counts).length === 0 ? undefined : counts
}
