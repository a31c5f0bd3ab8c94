import type { UsageSum } from '../../api/types.ts'
import { text } from './texts.ts'

/** The fields by which usage is grouped and filtered, as the API calls them. */
export const FIELDS = ['model', 'key', 'channel', 'format', 'upstream_format', 'door', 'group', 'status'] as const
export type Field = (typeof FIELDS)[number]

/** Which requests are meant; an empty value means those without one. */
export type Where = { readonly [F in Field]?: string }

/** The name of a group: that of its key, or the value itself. */
export function nameOf(sum: UsageSum, field: Field): string {
  if (sum.others === true) return text().others
  const value = sum[field]
  if (value === undefined) return text().none
  return field === 'key' ? (sum.key_name ?? value) : value
}

/** The value of a group as filters take it. */
export const valueIn = (sum: UsageSum, field: Field): string => sum[field] ?? ''
