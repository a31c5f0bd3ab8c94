import * as v from 'valibot'
import type { WireRequest } from '../../canonical/exchange.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { shape } from '../explain.ts'
import { FIELDS } from './pictures.ts'
import { isFlag, isNumber } from './texts.ts'

/** Requests for pictures, FORMATS §10. Loose: unknown fields pass. */

const maybe = <S extends v.GenericSchema>(schema: S) => v.nullish(schema)
const maybeText = maybe(v.string())

/** A picture to start from: an address (maybe of data) or a file's id; vendors have words of their own for either. */
const picture = v.union([v.string(), shape({ image_url: maybeText, file_id: maybeText, url: maybeText })])
const pictures = maybe(v.union([picture, v.array(picture)]))

/** Settings, with numbers and flags as this body has them. */
const settings = (number: v.GenericSchema, flag: v.GenericSchema) => ({
  model: v.string(),
  n: maybe(number),
  size: maybeText,
  quality: maybeText,
  style: maybeText,
  background: maybeText,
  output_format: maybeText,
  output_compression: maybe(number),
  input_fidelity: maybeText,
  response_format: maybeText,
  partial_images: maybe(number),
  stream: maybe(flag),
  user: maybeText,
  safety_identifier: maybeText,
  image: pictures,
  'image[]': pictures,
  images: pictures,
  mask: maybe(picture),
})

export const request = shape({ prompt: v.string(), ...settings(v.number(), v.boolean()) })

const numberText = v.pipe(v.string(), v.check(isNumber, 'Invalid value: Expected a number'))
const flagText = v.pipe(v.string(), v.check(isFlag, 'Invalid value: Expected true or false'))

/** A form has texts alone. Its prompt may stand behind a picture that flows through, and variations have none. */
export const form = shape({ prompt: maybeText, ...settings(numberText, flagText) })

/** What is changed must be there. */
const change = <S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    schema,
    v.check(
      body => FIELDS.some(field => [(body as JsonObject)[field] ?? []].flat().length > 0),
      'A picture to begin with is required here (`image`).',
    ),
  )
const jsonChange = change(request)
const formChange = change(form)

/** The schema of this very request. */
export function requestAt({ path, files }: WireRequest): v.GenericSchema {
  if (files === undefined) return path.endsWith('/generations') ? request : jsonChange
  return files.length > 0 ? form : formChange
}
