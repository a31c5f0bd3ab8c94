import * as v from 'valibot'
import type { WireRequest } from '../../canonical/wire.ts'
import { maybe, maybeText, shape } from '../errors/validation-error.ts'

/* Schemas of Kling's video requests (Kling's API). Unknown fields are accepted. */

const fields = {
  model_name: maybeText,
  model: maybeText,
  prompt: maybeText,
  image: maybeText,
  image_tail: maybeText,
  negative_prompt: maybeText,
  duration: maybe(v.union([v.string(), v.number()])),
  aspect_ratio: maybeText,
  mode: maybeText,
  external_task_id: maybeText,
}

type Fields = { readonly [field in keyof typeof fields]?: string | null }

/**
 * Returns a schema that requires one of the fields. The first one present is used. It may be an empty string only if
 * `empty` is true.
 */
const withRequired = (schema: v.GenericSchema, names: readonly (keyof Fields)[], empty: boolean): v.GenericSchema =>
  v.pipe(
    schema,
    v.check(
      body => {
        const value = names.map(name => (body as Fields)[name]).find(one => one != null)
        return value !== undefined && (empty || value !== '')
      },
      `Expected ${names.join(' or ')}`,
    ),
  )

const REQUEST = withRequired(shape(fields), ['model_name', 'model'], true)
const FROM_TEXT = withRequired(REQUEST, ['prompt'], false)
const FROM_IMAGE = withRequired(REQUEST, ['image', 'image_tail'], false)

/** Returns the schema for the endpoint in a request's path. */
export const requestAt = ({ path }: WireRequest): v.GenericSchema =>
  path.endsWith('/image2video') ? FROM_IMAGE : FROM_TEXT
