import type { ImageProperties } from '../../canonical/content.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { anyText, definedIfAny } from '../fields.ts'

/**
 * Canonical names of the wire fields that describe a generated image (docs/wire/responses.md#input-items,
 * docs/wire/images.md).
 */
const FIELD_NAMES = {
  revised_prompt: 'prompt',
  size: 'size',
  quality: 'quality',
  background: 'background',
} as const satisfies { readonly [field: string]: keyof ImageProperties }

type Field = keyof typeof FIELD_NAMES
/** Fields that describe all images of an answer. */
export const SETTINGS = ['size', 'quality', 'background'] as const satisfies readonly Field[]
/** All fields that describe an image. */
export const FIELDS = Object.keys(FIELD_NAMES) as Field[]

/** Reads the description of a generated image. Returns undefined if all fields are empty. */
export const readMade = (wire: JsonObject, fields: readonly Field[] = FIELDS): ImageProperties | undefined =>
  definedIfAny(Object.fromEntries(fields.map(field => [FIELD_NAMES[field], anyText(wire[field])])))

/** Returns the fields that cannot be read because their value is not a string. */
export const unreadableFields = (wire: JsonObject, fields: readonly Field[] = FIELDS): Field[] =>
  fields.filter(field => wire[field] != null && anyText(wire[field]) === undefined)
