import type { CallIds } from '../../canonical/call-ids.ts'
import type { Part, ToolResultPart } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import { type Json, type JsonObject, unchangedWire, withWireSource } from '../../canonical/node.ts'
import type { Message, Role } from '../../canonical/request.ts'
import { isWrappedReasoning } from '../../canonical/signature.ts'
import { object, objects, required, text, WrongType } from '../fields.ts'
import { runsOf } from '../tools.ts'
import { asList, CONTENT, contentsExtras, FORMAT, inCamelCase } from './fields.ts'
import { isSoundless } from './media.ts'
import { readPart } from './parts.ts'
import { joinReasoning } from './signatures.ts'
import { ROLES } from './wire.ts'

/** Reads the system instruction: a content object or a plain string. */
export function readInstruction(wire: Json | undefined, ids: CallIds): readonly Message[] {
  if (wire == null) return []
  if (typeof wire === 'string')
    return [withWireSource({ role: 'system', content: [{ type: 'text', text: wire }] }, FORMAT, wire)]
  const fields = inCamelCase(required(object(wire)), CONTENT)
  text(fields['role'])
  const content = partsIn(fields).flatMap(part => readPart(part, ids))
  return [withWireSource({ role: 'system', content, ...contentsExtras(fields, CONTENT) }, FORMAT, wire)]
}

/** Reads the conversation. Pairs tool results with calls, and joins reasoning that clients return in chunks. */
export function readContents(wire: readonly JsonObject[], ids: CallIds): readonly Message[] {
  const messages = wire.flatMap(content => readContent(content, ids))
  const pairedIds = ids.pairedByOrder()
  if (pairedIds !== undefined) for (const { content } of messages) pairResults(content as Part[], pairedIds)
  return joinReasoning(messages)
}

/** Gives tool results without ids the ids of their calls, which are matched by order. */
function pairResults(content: Part[], pairedIds: ReadonlyMap<string, string>): void {
  content.forEach((part, index) => {
    const id = part.type === 'tool-result' ? pairedIds.get(part.id) : undefined
    if (id !== undefined)
      content[index] = withWireSource({ ...(part as ToolResultPart), id }, FORMAT, unchangedWire(part, FORMAT))
  })
}

/**
 * Reads one content. Tool results become separate messages marked `joined`. The source of a content with a separator or
 * a wrapped signature is not recorded, because upstreams must not receive either.
 */
function readContent(wire: JsonObject, ids: CallIds): readonly Message[] {
  const fields = inCamelCase(wire, CONTENT)
  const role = text(fields['role'])
  if (role !== undefined && !ROLES.includes(role as (typeof ROLES)[number])) throw WrongType.instance
  const wires = partsIn(fields)
  const parts: Part[] = []
  let marks = 0
  let isUnchanged = true
  for (const wire of wires) {
    if (isSeparator(wire)) marks++
    else if (role !== 'model' && isSoundless(wire)) throw WrongType.instance
    else append(parts, readPart(wire, ids))
    isUnchanged &&= !hasWrappedSignature(wire)
  }
  if (marks > 0 && marks === wires.length) return []
  const runs = parts.some(({ type }) => type === 'tool-result') ? runsOf(parts) : [parts]
  return runs.map((content, index): Message => {
    const isTool = content[0]?.type === 'tool-result' || (content.length === 0 && role === 'function')
    const as: Role = isTool ? 'tool' : role === 'model' ? 'assistant' : 'user'
    const node = index === 0 ? contentsExtras(fields, CONTENT) : JOINED
    const message = withWireSource({ role: as, content, ...node }, FORMAT, wire)
    return isUnchanged && marks === 0 ? message : { ...message }
  })
}

const JOINED = { spelling: { [FORMAT]: { joined: true } } }

const partsIn = (fields: JsonObject): readonly JsonObject[] => objects(asList(fields['parts'])) ?? []

/**
 * Returns true for the separator that earlier versions of the gateway wrote around text parts in streams. Clients send
 * it back, but it has no meaning (trap 90).
 */
const isSeparator = (part: JsonObject): boolean => part['thought'] === false && Object.keys(part).length === 1

/** Returns true if the gateway wrapped the part's signature. */
const hasWrappedSignature = ({ thoughtSignature, thought_signature }: JsonObject): boolean =>
  (typeof thoughtSignature === 'string' && isWrappedReasoning(thoughtSignature)) ||
  (typeof thought_signature === 'string' && isWrappedReasoning(thought_signature))
