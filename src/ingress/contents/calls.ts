import type { CallIds } from '../../canonical/call-ids.ts'
import type { Part, ToolCallPart, ToolResultPart } from '../../canonical/content.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { defined, object, objects, text } from '../fields.ts'
import { FORMAT, type Left, leftOf, nodeOf, open } from './fields.ts'
import { readFile, readInline } from './media.ts'

const CALL = new Set(['id', 'name', 'args'])

/** A call; undefined where it has no name. */
export function readCall(
  wire: JsonObject,
  ids: CallIds,
): { readonly call: ToolCallPart; readonly left: Left } | undefined {
  const opened = open(wire, CALL)
  const { fields } = opened
  const name = text(fields['name'])
  const said = text(fields['id'])
  const args = object(fields['args'])
  if (name === undefined) return undefined
  const id = ids.call(said, name)
  const left = leftOf(opened, CALL, {
    id: said === undefined ? 'absent' : said === id ? undefined : { said },
    args: args === undefined ? 'absent' : undefined,
  })
  return { call: { type: 'tool-call', id, name, arguments: args === undefined ? '{}' : JSON.stringify(args) }, left }
}

const RESPONSE = new Set(['id', 'name', 'response', 'parts'])

/** The answer to a call: what it says in the response, with its media in `parts` beside (trap 48). */
export function readResponse(wire: JsonObject, ids: CallIds): { readonly result: ToolResultPart; readonly left: Left } {
  const opened = open(wire, RESPONSE)
  const { fields } = opened
  const name = text(fields['name'])
  const said = text(fields['id'])
  const parts = objects(fields['parts'])
  const { content, failed, how } = readSaid(object(fields['response']))
  const id = ids.result(said, name)
  const left = leftOf(opened, RESPONSE, {
    id: said === undefined ? 'absent' : said === id ? undefined : { said },
    response: how,
    parts: parts?.length === 0 ? 'empty' : undefined,
  })
  const result: ToolResultPart = {
    type: 'tool-result',
    id,
    ...defined({ name }),
    content: [...content, ...(parts ?? []).map(readMedia)],
    ...(failed ? { failed: true as const } : {}),
  }
  return { result, left }
}

/** Keys that by convention hold all there is to say. */
const SAID = ['result', 'output', 'error']

interface Said {
  readonly content: readonly Part[]
  readonly failed: boolean
  /** How the response held it. */
  readonly how: Json | undefined
}

/** `{ result: text }`, `{ output: text }` and `{ error: text }` say the text; any other object is said as JSON. */
function readSaid(response: JsonObject | undefined): Said {
  if (response === undefined) return { content: [], failed: false, how: 'absent' }
  const keys = Object.keys(response)
  const key = keys.length === 1 && SAID.includes(keys[0]!) ? keys[0]! : undefined
  if (key === undefined) return { content: [textOf(JSON.stringify(response))], failed: false, how: 'object' }
  const said = response[key]!
  const failed = key === 'error'
  return typeof said === 'string'
    ? { content: [textOf(said)], failed, how: { key } }
    : { content: [textOf(JSON.stringify(said))], failed, how: { key, json: true } }
}

const textOf = (said: string): Part => ({ type: 'text', text: said })

const PART = new Set(['inlineData', 'fileData'])
const INLINE = new Set(['inlineData'])
const FILE = new Set(['fileData'])

function readMedia(wire: JsonObject): Part {
  const opened = open(wire, PART)
  const inline = object(opened.fields['inlineData'])
  const file = object(opened.fields['fileData'])
  const fromFile = file && readFile(file)
  const read = inline === undefined ? fromFile : readInline(inline)
  if (read === undefined || (inline !== undefined && file !== undefined))
    return { type: 'opaque', format: FORMAT, value: wire }
  const field = inline === undefined ? 'fileData' : 'inlineData'
  return {
    ...read.media,
    ...nodeOf(leftOf(opened, inline === undefined ? FILE : INLINE, {}, { [field]: read.left })),
  }
}
