import * as v from 'valibot'
import type { JsonObject } from '../../canonical/node.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { count, shape } from '../errors/validation-error.ts'
import { emptyField, hasPicture, readNamed } from './input-images.ts'
import { isFlag, isNumber } from './texts.ts'

/** Requests for pictures, FORMATS §10. Loose: unknown fields pass. */

const maybe = <S extends v.GenericSchema>(schema: S) => v.nullish(schema)
const maybeText = maybe(v.string())

/** A picture to start from: an address (maybe of data) or a file's id; vendors have words of their own for either. */
const picture = v.union([v.string(), shape({ image_url: maybeText, file_id: maybeText, url: maybeText })])
const pictures = maybe(v.union([picture, v.array(picture)]))

/** Settings, with numbers, counts and flags as this body has them. */
const settings = (number: v.GenericSchema, count: v.GenericSchema, flag: v.GenericSchema) => ({
  model: v.string(),
  n: maybe(count),
  size: maybeText,
  quality: maybeText,
  style: maybeText,
  background: maybeText,
  output_format: maybeText,
  output_compression: maybe(number),
  input_fidelity: maybeText,
  moderation: maybeText,
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

const inJson = settings(v.number(), count, v.boolean())
export const request = shape({ prompt: v.string(), ...inJson })

const numberText = v.pipe(v.string(), v.check(isNumber, 'Invalid value: Expected a number'))
const flagText = v.pipe(v.string(), v.check(isFlag, 'Invalid value: Expected true or false'))

const countText = v.pipe(numberText, v.transform(Number), count)

/** A form has texts alone. */
const inForm = settings(numberText, countText, flagText)
const BODIES = {
  json: { prompted: request, promptless: shape({ prompt: maybeText, ...inJson }) },
  form: {
    prompted: shape({ prompt: v.string(), ...inForm }),
    promptless: shape({ prompt: maybeText, ...inForm }),
  },
}

/** No picture is empty. */
const filled = (schema: v.GenericSchema): v.GenericSchema =>
  v.pipe(
    schema,
    v.check(body => emptyField(readNamed(body as JsonObject)) === undefined, EMPTY_PICTURE),
  )

/** What is changed must be there. */
const change = (schema: v.GenericSchema, files: WireRequest['files']): v.GenericSchema =>
  v.pipe(
    schema,
    v.check(body => hasPicture(body as JsonObject, files), NO_PICTURE),
  )

/** What a caller is told who wants a picture changed and brings none, or an empty one. */
export const NO_PICTURE = 'A picture to begin with is required here.'
export const EMPTY_PICTURE = 'This picture is empty.'

/** Variations are made of a picture alone, and what a form does not say yet may follow. */
export const needsPrompt = ({ path, unfinished }: WireRequest): boolean =>
  unfinished !== true && !path.endsWith('/variations')

/** The schema of this very request. */
export function requestAt(wire: WireRequest): v.GenericSchema {
  const { path, files } = wire
  if (path.endsWith('/generations')) return filled(request)
  const body = BODIES[files === undefined ? 'json' : 'form']
  return filled(change(needsPrompt(wire) ? body.prompted : body.promptless, files))
}
