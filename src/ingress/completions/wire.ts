import * as v from 'valibot'
import { SETTINGS } from '../../formats/settings/completions.ts'
import { maybe, maybeNumber, maybeText, settingEntries, shape } from '../errors/validation-error.ts'

export const FORMAT = 'completions'

const tokens = v.array(v.number())
const prompt = v.union([v.string(), tokens, v.array(v.union([v.string(), tokens]))])

/**
 * Schema of the text-completions request (docs/wire/completions.md#request). Unknown fields are accepted, and free-form
 * JSON is never validated.
 */
export const request = shape({
  ...settingEntries(SETTINGS),
  model: v.string(),
  prompt: v.nullable(prompt),
  suffix: maybeText,
  echo: maybe(v.boolean()),
  stream: maybe(v.boolean()),
  stream_options: maybe(shape({})),
  stop: maybe(v.union([v.string(), v.array(v.string())])),
  logprobs: maybeNumber,
})
