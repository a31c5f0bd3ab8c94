import * as v from 'valibot'
import type { JsonObject } from '../../canonical/node.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { count, maybe, maybeText, shape } from '../errors/validation-error.ts'
import { isFlag, isNumeral } from '../fields.ts'
import { emptyField, hasImage, readReferencedImages } from './content.ts'

/* Schemas of image requests (docs/wire/images.md#generations). Unknown fields are accepted. */

/** Returns the media type of a file format, given its name in this format. */
export const mediaTypeOfName = (name: string): string =>
  Object.hasOwn(OTHER_TYPES, name) ? OTHER_TYPES[name]! : `image/${name}`

const OTHER_TYPES: { readonly [name: string]: string } = { jpg: 'image/jpeg', svg: 'image/svg+xml' }

/** Schema of an input image: a URL, which may contain the data, or a file id. Vendors use different fields for them. */
const image = v.union([v.string(), shape({ image_url: maybeText, file_id: maybeText, url: maybeText })])
const images = maybe(v.union([image, v.array(image)]))

/** Returns the schemas of the settings, given the schemas of numbers, counts and flags in this kind of body. */
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
  image: images,
  'image[]': images,
  images: images,
  mask: maybe(image),
})

const inJson = settings(v.number(), count, v.boolean())
export const request = shape({ prompt: v.string(), ...inJson })

const numberText = v.pipe(v.string(), v.check(isNumeral, 'Invalid value: Expected a number'))
const flagText = v.pipe(v.string(), v.check(isFlag, 'Invalid value: Expected true or false'))

const countText = v.pipe(numberText, v.transform(Number), count)

/** Schemas of the settings in a form, where all fields are strings. */
const inForm = settings(numberText, countText, flagText)
const BODIES = {
  json: { prompted: request, promptless: shape({ prompt: maybeText, ...inJson }) },
  form: {
    prompted: shape({ prompt: v.string(), ...inForm }),
    promptless: shape({ prompt: maybeText, ...inForm }),
  },
}

/** Returns a schema that refuses empty images. */
const nonEmpty = (schema: v.GenericSchema): v.GenericSchema =>
  v.pipe(
    schema,
    v.check(body => emptyField(readReferencedImages(body as JsonObject)) === undefined, EMPTY_IMAGE),
  )

/** Extends a schema to require an image to edit. */
const requiringImage = (schema: v.GenericSchema, files: WireRequest['files']): v.GenericSchema =>
  v.pipe(
    schema,
    v.check(body => hasImage(body as JsonObject, files), NO_IMAGE),
  )

/** Error message for an edit without an image. */
export const NO_IMAGE = 'An image to edit is required.'
/** Error message for an edit with an empty image. */
export const EMPTY_IMAGE = 'This image is empty.'

/**
 * Returns true if a prompt is required. Variations need only an image, and missing fields of an unfinished form may
 * still follow.
 */
export const needsPrompt = ({ path, unfinished }: WireRequest): boolean =>
  unfinished !== true && !path.endsWith('/variations')

/** Returns the schema for a request's endpoint and kind of body. */
export function requestAt(wire: WireRequest): v.GenericSchema {
  const { path, files } = wire
  if (path.endsWith('/generations')) return nonEmpty(request)
  const body = BODIES[files === undefined ? 'json' : 'form']
  return nonEmpty(requiringImage(needsPrompt(wire) ? body.prompted : body.promptless, files))
}
