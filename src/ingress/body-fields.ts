import type { Settings } from '../canonical/settings.ts'

/**
 * Maps the path of a canonical field, its steps joined by `/`, to the body fields that may hold the value. If the body
 * has several of them, the first listed one is used. Format-specific fields (`extras`) are siblings of the other fields
 * of their node.
 */
export type BodyFields = { readonly [path: string]: readonly string[] }

/**
 * Returns the body fields of a format's settings. `group` is the body field that contains them, if they are grouped.
 */
export const fieldsOfSettings = ({ read }: Settings, group?: string): BodyFields =>
  Object.fromEntries(
    read.map(({ at, field, wire }) => [
      at === 'request' ? field : `${at}/${field}`,
      [group === undefined ? wire : `${group}/${wire}`],
    ]),
  )
