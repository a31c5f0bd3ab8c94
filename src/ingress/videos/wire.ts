import * as v from 'valibot'
import type { WireRequest } from '../../canonical/wire.ts'
import { maybe, maybeText, shape } from '../errors/validation-error.ts'

/* The request for a video, FORMATS §11. Loose: unknown fields pass. */

const reference = v.union([v.string(), shape({})], 'Invalid type: Expected a picture as text, or an object')
const prompt = v.pipe(v.string(), v.minLength(1, 'Invalid length: Expected a prompt'))

const settings = {
  seconds: maybe(v.union([v.string(), v.number()])),
  size: maybeText,
  input_reference: maybe(reference),
  'input_reference[image_url]': maybeText,
  'input_reference[file_id]': maybeText,
}

export const request = shape({ model: v.string(), prompt, ...settings })
const unfinished = shape({ model: v.string(), prompt: maybe(prompt), ...settings })
const remix = shape({ prompt, ...settings })

/** The path of a request to change the video of another task, and that task's id. */
export const REMIX = /^\/videos\/([^/]+)\/remix$/

/** The schema of this very request. */
export const requestAt = ({ path, unfinished: more }: WireRequest): v.GenericSchema =>
  REMIX.test(path) ? remix : more === true ? unfinished : request
