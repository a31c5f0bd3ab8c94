import type { Made } from '../../canonical/content.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { anyText, defined } from '../fields.ts'

/** The wire's names of what a picture came to look like (FORMATS §4, §10), and canonical's. */
const WORDS = {
  revised_prompt: 'prompt',
  size: 'size',
  quality: 'quality',
  background: 'background',
} as const satisfies { readonly [field: string]: keyof Made }

type Field = keyof typeof WORDS
export const LOOKS = ['size', 'quality', 'background'] as const satisfies readonly Field[]
export const FIELDS = Object.keys(WORDS) as Field[]

/** What these fields of the object tell of its picture; undefined where they tell nothing. */
export function readMade(wire: JsonObject, fields: readonly Field[] = FIELDS): Made | undefined {
  const made = defined(Object.fromEntries(fields.map(field => [WORDS[field], anyText(wire[field])]))) as Made
  for (const _ in made) return made
  return undefined
}

/** Those of the fields that hold no text: they tell nothing that is understood. */
export const misread = (wire: JsonObject, fields: readonly Field[] = FIELDS): Field[] =>
  fields.filter(field => wire[field] != null && anyText(wire[field]) === undefined)
