import * as v from 'valibot'
import { shape } from '../explain.ts'

/* A form's text fields: what is a number or a flag is one in letters. */

/** A number as a form says it. */
export const isNumeral = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text))

/** How a form says yes and no: `true` in most clients, a capital letter or a digit in some. */
export const FLAGS: { readonly [word: string]: boolean } = {
  ...{ true: true, True: true, TRUE: true, '1': true },
  ...{ false: false, False: false, FALSE: false, '0': false },
}

const text = v.nullish(v.string())
const texts = v.nullish(v.union([v.string(), v.array(v.string())]))

export const request = shape({
  model: v.string(),
  language: text,
  prompt: text,
  response_format: text,
  temperature: v.nullish(v.pipe(v.string(), v.check(isNumeral, 'Invalid number'))),
  stream: v.nullish(
    v.pipe(
      v.string(),
      v.check(word => Object.hasOwn(FLAGS, word), 'Expected true or false'),
    ),
  ),
  'timestamp_granularities[]': texts,
  timestamp_granularities: texts,
  'include[]': texts,
  include: texts,
  'keywords[]': texts,
  keywords: texts,
})
