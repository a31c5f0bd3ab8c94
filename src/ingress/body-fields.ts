import type { Settings } from '../canonical/settings.ts'

/**
 * Body fields by the path of the canonical field, with steps joined by `/`. If the body has several of the listed
 * fields, the first one is used. Format-specific fields (`extras`) are siblings of the other fields of their node.
 */
export type BodyFields = { readonly [path: string]: readonly string[] }

/**
 * Returns the body fields of a format's settings. If the format groups its settings in one body field, `group` names
 * that field.
 */
export const fieldsOfSettings = ({ read }: Settings, group?: string): BodyFields =>
  Object.fromEntries(
    read.map(({ at, field, wire }) => [
      at === 'request' ? field : `${at}/${field}`,
      [group === undefined ? wire : `${group}/${wire}`],
    ]),
  )
