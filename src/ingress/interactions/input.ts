import type { Part } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import { isObject, type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import { type Message, userMessage } from '../../canonical/request.ts'
import { extrasOf, objects, text, WrongType } from '../fields.ts'
import { runsOf } from '../tools.ts'
import { readContent, readPart } from './content.ts'
import { readResult, readStep } from './steps.ts'
import { CONTENT_TYPES, FORMAT } from './wire.ts'

/** Reads the history: the system instruction, then `input` (docs/wire/interactions.md#input). */
export function readHistory(body: JsonObject): readonly Message[] {
  const messages = readInput(body['input'] ?? undefined)
  const instruction = text(body['system_instruction'])
  if (instruction === undefined) return messages
  return [{ role: 'system', content: [{ type: 'text', text: instruction }] }, ...messages]
}

/** Reads `input`: a string, a content object, a step, or a list of the latter two. */
function readInput(wire: Json | undefined): readonly Message[] {
  if (wire === undefined) return []
  if (typeof wire === 'string') return [userMessage(wire)]
  const history = new History()
  for (const item of isObject(wire) ? [wire] : objects(wire)!) history.add(item)
  return history.messages
}

/**
 * Groups the model's consecutive steps into one turn, and consecutive content objects outside steps into a user turn.
 */
class History {
  readonly messages: Message[] = []
  /** Content of the model's open turn. Undefined after any other item. */
  private turn: Part[] | undefined
  /** Parts of the open user turn, and the content objects that they were read from. */
  private contents: { readonly parts: Part[]; readonly wires: JsonObject[] } | undefined

  add(item: JsonObject): void {
    const kind = kindOf(item)
    if (CONTENT_TYPES.has(kind)) return this.addContent(item)
    this.contents = undefined
    if (kind === 'user_input') this.addTurns(item)
    else if (kind === 'function_result') this.addTurn({ role: 'tool', content: [readResult(item)] }, item)
    else this.addStep(kind === item['type'] ? item : { ...item, type: kind! }, item)
  }

  private addContent(item: JsonObject): void {
    this.turn = undefined
    if (this.contents === undefined) {
      const parts: Part[] = []
      const wires: JsonObject[] = []
      this.contents = { parts, wires }
      const message: Message = { role: 'user', content: parts }
      this.messages.push(withWireSource(message, FORMAT, { type: 'user_input', content: wires }))
    }
    this.contents.parts.push(readPart(item))
    this.contents.wires.push(item)
  }

  /** Adds the contents of a user step. Tool results in it become separate turns. */
  private addTurns(item: JsonObject): void {
    const parts = readUserContent(item['content'])
    const isWhole = !parts.some(({ type }) => type === 'tool-result')
    if (isWhole) return this.addTurn({ role: 'user', content: parts, ...extrasOf(FORMAT, item, USER) }, item)
    runsOf(parts).forEach((content, index) => {
      const role = content[0]!.type === 'tool-result' ? 'tool' : 'user'
      const node = index === 0 ? extrasOf(FORMAT, item, USER) : JOINED
      this.addTurn({ role, content, ...node }, item)
    })
  }

  private addTurn(message: Message, wire: JsonObject): void {
    this.turn = undefined
    this.messages.push(withWireSource(message, FORMAT, wire))
  }

  /**
   * Adds a step of the model. The step is recorded as the source of its first part, or of its call if the call has a
   * signature.
   */
  private addStep(step: JsonObject, wire: JsonObject): void {
    const parts = readStep(step)
    if (parts.length === 0) return
    if (this.turn === undefined) this.messages.push({ role: 'assistant', content: (this.turn = []) })
    const first = parts[0]!
    if (!isSignatureOfCall(first)) withWireSource(first, FORMAT, wire)
    append(this.turn, parts)
  }
}

const USER = new Set(['type', 'role', 'content'])
const JOINED = { spelling: { [FORMAT]: { joined: true } } }

/** Returns the type of an item. Clients that do not use steps send turns with a role. */
function kindOf(item: JsonObject): string | undefined {
  const type = text(item['type'])
  if (type !== undefined) return type
  const role = text(item['role'])
  if (role !== 'user' && role !== 'model') throw WrongType.instance
  return role === 'user' ? 'user_input' : 'model_output'
}

/** Reads the content of a user turn. Some clients put tool results there. */
function readUserContent(wire: Json | undefined): readonly Part[] {
  if (typeof wire === 'string') return readContent(wire)
  return objects(wire)?.map(one => (one['type'] === 'function_result' ? readResult(one) : readPart(one))) ?? []
}

const isSignatureOfCall = ({ spelling }: Part): boolean => spelling?.[FORMAT]?.['on'] === 'call'
