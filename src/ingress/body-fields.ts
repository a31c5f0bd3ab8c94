import type { Settings } from '../canonical/settings.ts'

/**
 * For paths of canonical fields, their steps joined by `/`, the fields of a body that may hold them: the one that counts
 * first. Data of the format's own (`extras`) stands where the other fields of its node do.
 */
export type BodyFields = { readonly [path: string]: readonly string[] }

/** The fields of a format's settings, below a field of the body where they are grouped. */
export const fieldsOfSettings = ({ read }: Settings, group?: string): BodyFields =>
  Object.fromEntries(
    read.map(({ at, field, wire }) => [
      at === 'request' ? field : `${at}/${field}`,
      [group === undefined ? wire : `${group}/${wire}`],
    ]),
  )
