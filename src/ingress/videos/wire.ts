import * as v from 'valibot'
import type { WireRequest } from '../../canonical/wire.ts'
import { maybe, maybeText, shape } from '../errors/validation-error.ts'

/* Schemas of video requests (docs/wire/videos.md#openai). Unknown fields are accepted. */

const reference = v.union([v.string(), shape({})], 'Invalid type: Expected an image as text, or an object')
const prompt = v.pipe(v.string(), v.minLength(1, 'Invalid length: Expected a prompt'))

const settings = {
  seconds: maybe(v.union([v.string(), v.number()])),
  size: maybeText,
  input_reference: maybe(reference),
  'input_reference[image_url]': maybeText,
  'input_reference[file_id]': maybeText,
}

export const request = shape({ model: v.string(), prompt, ...settings })
const commonFields = shape({ model: v.string(), prompt: maybe(prompt), ...settings })
const remix = shape({ prompt, ...settings })

/** Matches the path of a remix and captures the id of the original task. */
export const REMIX = /^\/videos\/([^/]+)\/remix$/

/** Returns the schema for a request's endpoint and completeness. */
export const requestAt = ({ path, unfinished: more }: WireRequest): v.GenericSchema =>
  REMIX.test(path) ? remix : more === true ? commonFields : request
