import type { Part } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import type { Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject, wireSourceOf, withWireSource } from '../../canonical/node.ts'
import { type CanonicalRequest, type Message, type Role, userMessage } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { extrasOf, objects, text, WrongType } from '../fields.ts'
import { type Locate, locator, type MessagePaths } from '../locate.ts'
import { readContent } from './content.ts'
import { checkIdAndStatus, MESSAGE, opaqueItem, readItem, readOutput } from './items.ts'
import { upstreamCallsIn } from './upstream-calls.ts'
import { ANSWERS, FORMAT, kindOfItem, ROLES, TOOL_ITEMS } from './wire.ts'

/** Reads the history: the instructions, then `input` as a string, an item or a list of items (trap 71). */
export function readHistory(body: JsonObject): readonly Message[] {
  const messages = readInput(body['input'] ?? undefined, body['tools'])
  const instructions = text(body['instructions'])
  if (instructions === undefined) return messages
  return [{ role: 'system', content: [{ type: 'text', text: instructions }] }, ...messages]
}

function readInput(wire: Json | undefined, tools: Json | undefined): readonly Message[] {
  if (wire === undefined) return []
  if (typeof wire === 'string') return [userMessage(wire)]
  const items = isObject(wire) ? [wire] : objects(wire)!
  return readItems(items, upstreamCallsIn(items, tools))
}

/**
 * Groups consecutive assistant items into one turn. Any other item is a separate turn. The first part of each item
 * records the item as its source.
 */
function readItems(items: readonly JsonObject[], upstreamCalls: ReadonlySet<JsonObject>): readonly Message[] {
  const messages: Message[] = []
  let turn: Part[] | undefined
  for (const item of items) {
    const kind = kindOfItem(item)
    const turnOfItem = readTurnItem(item, kind)
    if (turnOfItem !== undefined) {
      turn = undefined
      messages.push(withWireSource(turnOfItem, FORMAT, item))
    } else if (TOOL_ITEMS.has(kind)) {
      // The tools of this item belong to the request, so the item neither starts nor ends a turn.
      const part = withWireSource({ ...opaqueItem(item), redundant: true } as Part, FORMAT, item)
      if (turn !== undefined) turn.push(part)
      else messages.push(withWireSource<Message, JsonObject>({ role: 'developer', content: [part] }, FORMAT, item))
    } else {
      if (turn === undefined) messages.push({ role: 'assistant', content: (turn = []) })
      // Calls that the upstream made for itself are also read, so that malformed ones are refused.
      const read = readItem(item)
      const parts = upstreamCalls.has(item) ? [opaqueItem(item)] : read
      withWireSource(parts[0]!, FORMAT, item)
      append(turn, parts)
    }
  }
  return messages
}

/** Reads an item that is a separate turn. Returns undefined for assistant items. */
function readTurnItem(item: JsonObject, kind: string | undefined): Message | undefined {
  if (kind === 'message') return readMessage(item)
  return kind !== undefined && ANSWERS.has(kind) ? { role: 'tool', content: [readOutput(item)] } : undefined
}

/** Reads a message. Returns undefined if its role is `assistant`. */
function readMessage(item: JsonObject): Message | undefined {
  const role = text(item['role'])
  if (!ROLES.includes(role as (typeof ROLES)[number])) throw WrongType.instance
  if (role === 'assistant') return undefined
  checkIdAndStatus(item)
  return {
    role: role as Role,
    content: readContent(item['content']),
    ...extrasOf(FORMAT, item, MESSAGE),
  }
}

const INPUT = 'input'

/** Locates messages and parts in `instructions` and `input`. An assistant turn may consist of several items. */
export function locate(request: CanonicalRequest): Locate {
  const { input, instructions } = wireSourceOf<WireRequest>(request, FORMAT)?.wire.body ?? {}
  const paths: MessagePaths[] = []
  let items = 0
  for (const [index, message] of request.messages.entries()) {
    if (index === 0 && instructions != null) {
      paths.push({ at: ['instructions'], parts: [['instructions']] })
      continue
    }
    const turnPaths = pathsOf(message, items)
    items += turnPaths.items
    paths.push(turnPaths)
  }
  const found = locator(INPUT, paths, [INPUT, items])
  return input == null || Array.isArray(input) ? found : path => unlisted(found(path), typeof input === 'string')
}

/** Removes the index from a path, for `input` that is not a list. */
function unlisted(path: Path, isText: boolean): Path {
  if (path[0] !== INPUT) return path
  return isText ? [INPUT] : path[1] === 0 ? [INPUT, ...path.slice(2)] : path
}

const itemOf = (node: object): JsonObject | undefined => wireSourceOf<JsonObject>(node, FORMAT)?.wire

/**
 * Returns the path of a turn and its number of items: one, or for the assistant the number of items that its parts
 * record.
 */
function pathsOf(message: Message, first: number): MessagePaths & { readonly items: number } {
  const { role, content } = message
  if (role !== 'assistant') {
    const at: Path = [INPUT, first]
    return { at, parts: content.map((_, index) => inside(at, itemOf(message), index)), items: 1 }
  }
  let items = 0
  let item: JsonObject | undefined
  let index = 0
  const parts = content.map((part): Path => {
    const next = itemOf(part)
    index = next === undefined ? index + 1 : 0
    if (next !== undefined) items++
    item = next ?? item
    return inside([INPUT, first + items - 1], item, index)
  })
  return { at: [INPUT, first], parts, items }
}

/**
 * Returns the path of a part in an item. The content of a message may be a single string. Any other item is one part.
 */
function inside(at: Path, item: JsonObject | undefined, index: number): Path {
  if (item !== undefined && kindOfItem(item) !== 'message') return at
  return typeof item?.['content'] === 'string' ? [...at, 'content'] : [...at, 'content', index]
}
