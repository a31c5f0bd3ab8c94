import { randomBytes } from 'node:crypto'
import { isObject, type Json, parseObject } from '../../canonical/node.ts'
import type { Case } from './fixtures.ts'

/** The fields that hold ids of answers, items and calls, in any format. */
const NAMES = ['id', 'item_id', 'call_id', 'responseId', 'toolUseId'] as const

/** Fields with content of models or callers. They contain no ids. */
const CONTENT: ReadonlySet<string> = new Set(['input', 'args', 'arguments', 'parameters', 'tools', 'metadata'])

const NAMED = new RegExp(`"(?:${NAMES.join('|')})"\\s*:\\s*"([^"\\\\]+)"`, 'g')

/** The suffix of the ids in an answer of the mock. */
const SUFFIX = /_replay[0-9a-f]{12}/g

const NONE: ReadonlySet<string> = new Set()

const cache = new WeakMap<Case, ReadonlySet<string>>()

/** Replaces the ids in a recorded answer, so that the same fixture makes a different answer each time. */
export function withNewIds(text: string, one: Case): string {
  const ids = idsOf(one)
  if (ids.size === 0) return text
  const suffix = `_replay${randomBytes(6).toString('hex')}`
  return text.replace(NAMED, (field, id: string) => (ids.has(id) ? `${field.slice(0, -1)}${suffix}"` : field))
}

/** Removes the suffixes of ids, to compare a request with the recorded one. */
export const withoutSuffixes = (text: string): string => text.replace(SUFFIX, '')

/** Format whose ids are segment numbers, which do not change. */
const COUNTED = 'transcriptions'

/** The ids in a recorded answer, found once per case. */
function idsOf(one: Case): ReadonlySet<string> {
  if (one.format === COUNTED) return NONE
  let ids = cache.get(one)
  if (ids === undefined) {
    const events = [...(one.events ?? '').matchAll(/^data: ?(.*)$/gm)].map(([, data]) => parseObject(data!) ?? null)
    ids = new Set([one.result ?? null, ...events].flatMap(idsIn))
    cache.set(one, ids)
  }
  return ids
}

function idsIn(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(idsIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (typeof inner === 'string') return (NAMES as readonly string[]).includes(key) ? [inner] : []
    return CONTENT.has(key) ? [] : idsIn(inner)
  })
}
