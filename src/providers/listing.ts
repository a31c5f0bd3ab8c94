import type { Format, Json } from '../canonical/node.ts'
import { isObject } from '../canonical/node.ts'

/** Where an upstream lists its models, below the base address of the format. */
export const listPath = (format: Format): string => LISTS[format] ?? '/models'

/** Asked for in one page: 1000 is the most both take. */
const LISTS: { readonly [format: Format]: string } = {
  messages: '/v1/models?limit=1000',
  contents: '/v1beta/models?pageSize=1000',
}

/** The model ids in a list of models of any vendor's shape; undefined where the body is no such list. */
export function listedIds(body: Json): ReadonlySet<string> | undefined {
  const rows = Array.isArray(body) ? body : isObject(body) ? (body['data'] ?? body['models']) : undefined
  if (!Array.isArray(rows)) return undefined
  const ids = rows.flatMap(row => {
    if (!isObject(row)) return []
    const id = row['id'] ?? row['name']
    return typeof id === 'string' ? [id.replace(/^models\//, '')] : []
  })
  return new Set(ids)
}
