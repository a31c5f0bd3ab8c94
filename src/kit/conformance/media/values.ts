import { createHash } from 'node:crypto'
import { usualType } from '../content-types.ts'
import type { MediaFacts } from '../facts.ts'
import type { Format, FormFile } from '../format.ts'
import { type Json, type JsonObject, textOf } from '../json.ts'

/* Values of requests that are JSON or forms. A form has texts only. */

export function numberIn(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value)) ? Number(value) : undefined
}

const FLAGS: { readonly [text: string]: boolean } = { true: true, false: false }

export const flagIn = (value: Json | undefined): boolean | undefined =>
  typeof value === 'boolean' ? value : FLAGS[String(value).toLowerCase()]

/** Recognises requests at paths that name model and stream in JSON or in a form. */
export const recogniseForms =
  (paths: RegExp): Format['recognise'] =>
  (path, body) =>
    paths.test(path) ? { model: textOf(body['model']) ?? '', stream: flagIn(body['stream']) === true } : undefined

/** The entries of a list, which a form writes as `name` or as `name[]`, once per entry. */
export const listIn = (body: JsonObject, name: string): readonly Json[] =>
  [body[name] ?? [], body[`${name}[]`] ?? []].flat()

export const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** The facts of a form's file; its name means nothing. */
export const fileFacts = ({ type, bytes }: FormFile): MediaFacts => ({
  type: usualType(type),
  digest: digestOf(bytes),
})
