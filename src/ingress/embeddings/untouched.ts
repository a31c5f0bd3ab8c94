import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import { NumbersText } from '../../canonical/vector.ts'

const KEY = '"embedding"'
/** The placeholder for a vector that was taken out; no vendor's sparse vector has such a token. */
const MARK = '\u0001'

/**
 * Parses an answer's body but leaves its vectors as text: a hundred of them are two million digits, and most are only
 * passed on. Undefined for a text that is no JSON object.
 */
export function parseUntouched(text: string): JsonObject | undefined {
  const parts: string[] = []
  const lists: NumbersText[] = []
  let from = 0
  for (let key = text.indexOf(KEY); key !== -1; key = text.indexOf(KEY, key + KEY.length)) {
    const start = valueAt(text, key + KEY.length)
    const end = text.indexOf(']', start)
    if (start === -1 || text[start] !== '[' || end === -1) continue
    const list = text.slice(start, end + 1)
    if (!isFlat(list)) return parseObject(text)
    parts.push(text.slice(from, start), `{"\\u0001":${lists.length}}`)
    lists.push(new NumbersText(list))
    from = end + 1
  }
  if (lists.length === 0) return parseObject(text)
  const body = parseObject(parts.join('') + text.slice(from))
  return body === undefined ? undefined : (filled(body, lists) ?? parseObject(text))
}

/** Where the value of a key begins, or -1 where no key ends here. */
function valueAt(text: string, after: number): number {
  const colon = skipped(text, after)
  return text[colon] === ':' ? skipped(text, colon + 1) : -1
}

function skipped(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) <= 32) at++
  return at
}

/** Characters of lists that are not numbers alone; the last three begin `null`, `NaN` and `Infinity`. */
const OTHERS = ['"', '{', 'n', 'N', 'I']

const isFlat = (list: string): boolean => list.lastIndexOf('[') === 0 && !OTHERS.some(sign => list.includes(sign))

/** The body with its vectors put back; undefined where one does not stand where vectors do. */
function filled(body: JsonObject, lists: readonly NumbersText[]): JsonObject | undefined {
  const { data } = body
  if (!Array.isArray(data)) return undefined
  let found = 0
  const entries = data.map(entry => {
    const mark = isObject(entry) && isObject(entry['embedding']) ? entry['embedding'][MARK] : undefined
    if (typeof mark !== 'number') return entry
    found++
    return { ...(entry as JsonObject), embedding: lists[mark] as never }
  })
  return found === lists.length ? { ...body, data: entries } : undefined
}
