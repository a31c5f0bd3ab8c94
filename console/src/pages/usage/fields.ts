import type { UsageSum } from '../../api/types.ts'
import { text } from './texts.ts'

/** API names of the fields that group and filter usage. */
export const FIELDS = ['model', 'key', 'channel', 'format', 'upstream_format', 'door', 'group', 'status'] as const
export type Field = (typeof FIELDS)[number]

/** Filters by field. An empty value selects requests without a value. */
export type Where = { readonly [F in Field]?: string }

/** Display name of a group: the key's name, or the value. */
export function nameOf(sum: UsageSum, field: Field): string {
  if (sum.others === true) return text().others
  const value = sum[field]
  if (value === undefined) return text().none
  return field === 'key' ? (sum.key_name ?? value) : value
}

/** Value of a group for use in a filter. */
export const valueIn = (sum: UsageSum, field: Field): string => sum[field] ?? ''
