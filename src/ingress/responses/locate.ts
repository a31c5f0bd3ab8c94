import type { Part } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { type Locate, locator, type Place } from '../locate.ts'

const FORMAT = 'responses'
const INPUT = 'input'

/** The places of the items in a body's `input`, of which the assistant's are one turn; the instructions are none. */
export function locate({ messages, spelling }: CanonicalRequest): Locate {
  const places: Place[] = []
  let items = 0
  for (const message of messages) {
    const marks = message.spelling?.[FORMAT]
    if (marks?.['as'] === 'instructions') places.push({ at: ['instructions'], parts: [['instructions']] })
    else {
      const place = placeOf(message, items)
      items += place.items
      places.push(place)
    }
  }
  const found = locator(INPUT, places, [INPUT, items])
  const whole = spelling?.[FORMAT]?.['input']
  return whole === 'string' || whole === 'object' ? path => unlisted(found(path), whole) : found
}

/** A text or an item that is not in a list has no index. */
function unlisted(path: Path, whole: 'string' | 'object'): Path {
  if (path[0] !== INPUT) return path
  return whole === 'string' ? [INPUT] : path[1] === 0 ? [INPUT, ...path.slice(2)] : path
}

function placeOf({ role, content, spelling }: Message, first: number): Place & { readonly items: number } {
  const at: Path = [INPUT, first]
  if (role === 'tool' || (role !== 'assistant' && isItem(content[0])))
    return { at, parts: content.map(() => at), items: 1 }
  if (role !== 'assistant') {
    const bare = spelling?.[FORMAT]?.['content'] === 'string'
    return { at, parts: content.map((_, index) => inside(first, index, bare)), items: 1 }
  }
  let item = first - 1
  let place = 0
  const parts = content.map((part): Path => {
    if (isItem(part)) {
      item++
      return [INPUT, item]
    }
    const message = part.spelling?.[FORMAT]?.['message'] as JsonObject | undefined
    if (message !== undefined) item++
    place = message === undefined ? place + 1 : 0
    return inside(item, place, message?.['content'] === 'string')
  })
  return { at, parts, items: Math.max(1, item - first + 1) }
}

/** A part of a message item; a text may be all its content. */
const inside = (item: number, index: number, bare: boolean): Path =>
  bare ? [INPUT, item, 'content'] : [INPUT, item, 'content', index]

/** Whether a part is an item by itself, and no part of a message. */
function isItem(part: Part | undefined): boolean {
  if (part === undefined) return false
  if (part.type === 'opaque') return part.spelling?.[FORMAT]?.['in'] === undefined
  return part.type === 'reasoning' || part.type === 'tool-call'
}
