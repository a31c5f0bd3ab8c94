import * as v from 'valibot'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { shape } from '../errors/validation-error.ts'
import { isNumeral } from '../fields.ts'

export const FORMAT = 'transcriptions'

/* Schemas of transcription forms. All fields are strings, including numbers and flags. */

/** Booleans in a form. Most clients send `true`; some send it capitalized or as a digit. */
export const FLAGS: { readonly [value: string]: boolean } = {
  ...{ true: true, True: true, TRUE: true, '1': true },
  ...{ false: false, False: false, FALSE: false, '0': false },
}

const text = v.nullish(v.string())
const texts = v.nullish(v.union([v.string(), v.array(v.string())]))

/** Shapes of answers. Translations cannot have speakers. */
const SHAPES = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const
const TRANSLATION_SHAPES = SHAPES.filter(value => value !== 'diarized_json')

/** Returns true if an endpoint translates recordings to English instead of transcribing them. */
export const translates = (path: string): boolean => path.endsWith('/translations')

const fieldsOf = (shapes: readonly string[]) => ({
  model: v.string(),
  url: text,
  file_url: text,
  language: text,
  prompt: text,
  response_format: v.nullish(v.picklist(shapes)),
  temperature: v.nullish(v.pipe(v.string(), v.check(isNumeral, 'Invalid number'))),
  stream: v.nullish(
    v.pipe(
      v.string(),
      v.check(value => Object.hasOwn(FLAGS, value), 'Expected true or false'),
    ),
  ),
  'timestamp_granularities[]': texts,
  timestamp_granularities: texts,
  'include[]': texts,
  include: texts,
  'keywords[]': texts,
  keywords: texts,
})

const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? value : value == null ? [] : [value]

/**
 * Fields that only some shapes support (OpenAI's description of each field). Unknown shapes are sent to the upstream.
 */
const CONFLICTS: readonly {
  readonly fields: readonly string[]
  readonly message: string
  conflicts(shape: Json, include: readonly Json[]): boolean
}[] = [
  {
    fields: ['timestamp_granularities[]', 'timestamp_granularities'],
    message: 'response_format must be verbose_json',
    // Some clients send their default granularity even with `json`, where it has no effect.
    conflicts: (shape, include) =>
      shape !== 'verbose_json' && include.length > 0 && (shape !== 'json' || include.some(one => one !== 'segment')),
  },
  {
    fields: ['include[]', 'include'],
    message: 'logprobs are available only with response_format json',
    conflicts: (shape, include) => shape !== 'json' && include.includes('logprobs'),
  },
]

/**
 * Returns the first field that the requested shape does not support, with the reason, or undefined if there is none.
 */
export function conflictIn(body: JsonObject): { readonly field: string; readonly message: string } | undefined {
  const shape = body['response_format']
  if (shape == null) return undefined
  for (const { fields, message, conflicts } of CONFLICTS)
    for (const field of fields) if (conflicts(shape, listOf(body[field]))) return { field, message }
  return undefined
}

const schemaOf = (shapes: readonly string[]): v.GenericSchema =>
  v.pipe(
    shape(fieldsOf(shapes)),
    v.rawCheck(({ dataset, addIssue }) => {
      const input = dataset.value as JsonObject
      const conflict = dataset.typed && isObject(input) ? conflictIn(input) : undefined
      if (conflict === undefined) return
      const { field: key, message } = conflict
      addIssue({ message, path: [{ type: 'object', origin: 'value', input, key, value: input[key] }] })
    }),
  )

export const request = schemaOf(SHAPES)
const translation = schemaOf(TRANSLATION_SHAPES)

/** Returns the schema for the endpoint in a request's path. */
export const requestAt = ({ path }: { readonly path: string }): v.GenericSchema =>
  translates(path) ? translation : request

/** Returns true if answers of this endpoint can have the shape. */
export const isShape = (value: string, path: string): boolean =>
  (translates(path) ? TRANSLATION_SHAPES : SHAPES).some(known => known === value)
