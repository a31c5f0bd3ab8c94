import type { Format, JsonObject } from '../../../../src/canonical/node.ts'
import type { WireRequest } from '../../../../src/canonical/wire.ts'
import type { Work } from '../../../../src/canonical/work.ts'
import type { Loose, Refusal } from '../vendor.ts'

/*
 * What vendors of images, speech, transcriptions, embeddings and rankings refuse, written by hand from their pages, SDKs
 * and public errors. Rows use no code of the gateway and read none of its tables.
 */

/** One rule of a vendor's endpoint for media, which may depend on the path as well. */
export interface MediaRefusal extends Omit<Refusal, 'refuses'> {
  readonly refuses: (body: Loose, model: string, wire: WireRequest) => boolean
  /** Path at which the example is sent. Defaults to the format's first one. */
  readonly path?: string
}

/** A preset's upstream in one format for media. */
export interface StrictMediaVendor {
  readonly preset: string
  readonly format: Format
  readonly work: Work
  /** Models as the vendor names them: one of each kind that it treats differently. */
  readonly models: readonly string[]
  readonly refusals: readonly MediaRefusal[]
}

/** Rule of a field that must have one of several values, if it is there. `bad` is a value of the example. */
export const oneOf = (field: string, values: readonly string[], bad: Loose, source: string): MediaRefusal => ({
  error: `${field} must be one of ${values.join(', ')}`,
  source,
  refuses: body => body[field] !== undefined && !values.includes(body[field]),
  example: { [field]: bad },
  native: true,
})

/** Rule of fields that the vendor refuses, whatever their value. */
export const noFields = (fields: JsonObject, source: string): MediaRefusal[] =>
  Object.entries(fields).map(([field, value]) => ({
    error: `${field} is not supported`,
    source,
    refuses: body => body[field] !== undefined,
    example: { [field]: value },
    native: true,
  }))
