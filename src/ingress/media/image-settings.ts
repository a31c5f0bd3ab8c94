import type { Made } from '../../canonical/content.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { anyText, someOf } from '../fields.ts'

/**
 * The wire's names of what an image came to look like (docs/wire/responses.md#input-items, docs/wire/images.md), and
 * canonical's.
 */
const NAMES = {
  revised_prompt: 'prompt',
  size: 'size',
  quality: 'quality',
  background: 'background',
} as const satisfies { readonly [field: string]: keyof Made }

type Field = keyof typeof NAMES
export const SETTINGS = ['size', 'quality', 'background'] as const satisfies readonly Field[]
export const FIELDS = Object.keys(NAMES) as Field[]

/** The description of an image in these fields; undefined where they are empty. */
export const readMade = (wire: JsonObject, fields: readonly Field[] = FIELDS): Made | undefined =>
  someOf(Object.fromEntries(fields.map(field => [NAMES[field], anyText(wire[field])])))

/** Those of the fields that hold no text: they cannot be read. */
export const misread = (wire: JsonObject, fields: readonly Field[] = FIELDS): Field[] =>
  fields.filter(field => wire[field] != null && anyText(wire[field]) === undefined)
