import { randomBytes } from 'node:crypto'
import { isObject, type Json, parseObject } from '../canonical/node.ts'
import type { Case } from './fixtures.ts'

/** What names an answer, an item or a call of it, in any format. */
const NAMES = ['id', 'item_id', 'call_id', 'responseId'] as const

/** What a model or a caller made, and is no name of ours whatever its fields are called. */
const MADE: ReadonlySet<string> = new Set(['input', 'args', 'arguments', 'parameters', 'tools', 'metadata'])

const NAMED = new RegExp(`"(?:${NAMES.join('|')})"\\s*:\\s*"([^"\\\\]+)"`, 'g')

/** What an answer's own names end with. */
const MARK = /_replay[0-9a-f]{12}/g

const NONE: ReadonlySet<string> = new Set()

const known = new WeakMap<Case, ReadonlySet<string>>()

/** The text of a recorded answer under names of its own: the same fixture told twice is two answers. */
export function renamed(text: string, one: Case): string {
  const ids = idsOf(one)
  if (ids.size === 0) return text
  const mark = `_replay${randomBytes(6).toString('hex')}`
  return text.replace(NAMED, (field, id: string) => (ids.has(id) ? `${field.slice(0, -1)}${mark}"` : field))
}

/** A request as it was recorded, before answers had names of their own. */
export const unmarked = (text: string): string => text.replace(MARK, '')

/** The segments of a recording are counted, not named. */
const COUNTED = 'transcriptions'

function idsOf(one: Case): ReadonlySet<string> {
  if (one.format === COUNTED) return NONE
  let ids = known.get(one)
  if (ids === undefined) {
    const events = [...(one.events ?? '').matchAll(/^data: ?(.*)$/gm)].map(([, data]) => parseObject(data!) ?? null)
    ids = new Set([one.result ?? null, ...events].flatMap(idsIn))
    known.set(one, ids)
  }
  return ids
}

function idsIn(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(idsIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (typeof inner === 'string') return (NAMES as readonly string[]).includes(key) ? [inner] : []
    return MADE.has(key) ? [] : idsIn(inner)
  })
}
