import { append } from '../../canonical/append.ts'
import type { Part } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Message, Role } from '../../canonical/request.ts'
import { objects, text, WrongType } from '../fields.ts'
import { readContent } from './content.ts'
import { readItem, readMessageNode, readOutput, spellContent, unknownItem } from './items.ts'
import { upstreamCallsIn } from './upstream-calls.ts'
import { ANSWERS, kindOfItem, ROLES, TOOL_ITEMS } from './wire.ts'

const FORMAT = 'responses'

/** The history: `input` as a text, one item or a list of them (trap 71), after the instructions. */
export function readHistory(body: JsonObject): readonly Message[] {
  const messages = readInput(body['input'] ?? undefined, body['tools'])
  const instructions = text(body['instructions'])
  if (instructions === undefined) return messages
  const spelling = { [FORMAT]: { as: 'instructions' } }
  return [{ role: 'system', content: [{ type: 'text', text: instructions }], spelling }, ...messages]
}

function readInput(wire: Json | undefined, tools: Json | undefined): readonly Message[] {
  if (wire === undefined) return []
  if (typeof wire === 'string') return [{ role: 'user', content: [{ type: 'text', text: wire }] }]
  const items = isObject(wire) ? [wire] : objects(wire)!
  return readItems(items, upstreamCallsIn(items, tools))
}

/** Neighbouring items of the assistant are one turn; any other item is a turn by itself. */
function readItems(items: readonly JsonObject[], own: ReadonlySet<JsonObject>): readonly Message[] {
  const messages: Message[] = []
  let turn: Part[] | undefined
  for (const item of items) {
    const kind = kindOfItem(item)
    const turnOfItem = readTurnItem(item, kind)
    if (turnOfItem !== undefined) {
      turn = undefined
      messages.push(turnOfItem)
    } else if (TOOL_ITEMS.has(kind)) {
      // Its tools belong to the request: it neither opens a turn nor ends one.
      const part = { ...unknownItem(item), redundant: true } as Part
      if (turn !== undefined) turn.push(part)
      else messages.push({ role: 'developer', content: [part] })
    } else {
      if (turn === undefined) messages.push({ role: 'assistant', content: (turn = []) })
      if (own.has(item)) turn.push(unknownItem(item))
      else append(turn, readItem(item))
    }
  }
  return messages
}

/** The turn an item is by itself; undefined for the assistant's items. */
function readTurnItem(item: JsonObject, kind: string | undefined): Message | undefined {
  if (kind === 'message') return readMessage(item)
  return kind !== undefined && ANSWERS.has(kind) ? readAnswer(item) : undefined
}

/** A message of any role but the assistant's. */
function readMessage(item: JsonObject): Message | undefined {
  const role = text(item['role'])
  if (!ROLES.includes(role as (typeof ROLES)[number])) throw WrongType.instance
  if (role === 'assistant') return undefined
  return {
    role: role as Role,
    content: readContent(item['content'], 'input_text'),
    ...readMessageNode(item, { content: spellContent(item['content']) }),
  }
}

const readAnswer = (item: JsonObject): Message => ({ role: 'tool', content: [readOutput(item)] })
