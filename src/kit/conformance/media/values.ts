import { createHash } from 'node:crypto'
import { canonicalType } from '../content-types.ts'
import type { MediaFacts } from '../facts.ts'
import type { Format, FormFile } from '../format.ts'
import { type Json, type JsonObject, textOf } from '../json.ts'

/* Reads values from requests that are JSON or forms. All form fields are texts. */

export function numberIn(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value)) ? Number(value) : undefined
}

const FLAGS: { readonly [text: string]: boolean } = { true: true, false: false }

export const flagIn = (value: Json | undefined): boolean | undefined =>
  typeof value === 'boolean' ? value : FLAGS[String(value).toLowerCase()]

/** Recognises requests that name model and stream flag in a JSON body or a form. */
export const recogniseForms =
  (paths: RegExp): Format['recognise'] =>
  (path, body) =>
    paths.test(path) ? { model: textOf(body['model']) ?? '', stream: flagIn(body['stream']) === true } : undefined

/** Returns the entries of a list. A form has one field per entry, named `name` or `name[]`. */
export const listIn = (body: JsonObject, name: string): readonly Json[] =>
  [body[name] ?? [], body[`${name}[]`] ?? []].flat()

export const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Returns the facts of a form's file. The file name has no meaning. */
export const fileFacts = ({ type, bytes }: FormFile): MediaFacts => ({
  type: canonicalType(type),
  digest: digestOf(bytes),
})
