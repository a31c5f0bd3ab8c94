import type { CallIds } from '../../canonical/call-ids.ts'
import type { Part, ToolCallPart, ToolResultPart } from '../../canonical/content.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { defined, object, objects, text } from '../fields.ts'
import { FORMAT, nodeOf, open, type Remains, remainsOf } from './fields.ts'
import { readFile, readInline } from './media.ts'

const CALL = new Set(['id', 'name', 'args'])

/** A call; undefined where it has no name. */
export function readCall(
  wire: JsonObject,
  ids: CallIds,
): { readonly call: ToolCallPart; readonly remains: Remains } | undefined {
  const opened = open(wire, CALL)
  const { fields } = opened
  const name = text(fields['name'])
  const given = text(fields['id'])
  const args = object(fields['args'])
  if (name === undefined) return undefined
  const id = ids.call(given, name)
  const remains = remainsOf(opened, CALL, {
    id: given === undefined ? 'absent' : given === id ? undefined : { said: given },
    args: args === undefined ? 'absent' : undefined,
  })
  return {
    call: { type: 'tool-call', id, name, arguments: args === undefined ? '{}' : JSON.stringify(args) },
    remains: remains,
  }
}

const RESPONSE = new Set(['id', 'name', 'response', 'parts'])

/** The result of a call: the content of its response, with its media in `parts` beside (trap 48). */
export function readResponse(
  wire: JsonObject,
  ids: CallIds,
): { readonly result: ToolResultPart; readonly remains: Remains } {
  const opened = open(wire, RESPONSE)
  const { fields } = opened
  const name = text(fields['name'])
  const given = text(fields['id'])
  const parts = objects(fields['parts'])
  const { content, failed, spelt } = readOutput(object(fields['response']))
  const id = ids.result(given, name)
  const remains = remainsOf(opened, RESPONSE, {
    id: given === undefined ? 'absent' : given === id ? undefined : { said: given },
    response: spelt,
    parts: parts?.length === 0 ? 'empty' : undefined,
  })
  const result: ToolResultPart = {
    type: 'tool-result',
    id,
    ...defined({ name }),
    content: [...content, ...(parts ?? []).map(readMedia)],
    ...(failed ? { failed: true as const } : {}),
  }
  return { result, remains: remains }
}

/** Keys that by convention hold the whole result. */
const RESULT_KEYS = ['result', 'output', 'error']

interface ReadOutput {
  readonly content: readonly Part[]
  readonly failed: boolean
  /** The shape of the response. */
  readonly spelt: Json | undefined
}

/** The text of `{ result: text }`, `{ output: text }` and `{ error: text }`; any other object becomes JSON text. */
function readOutput(response: JsonObject | undefined): ReadOutput {
  if (response === undefined) return { content: [], failed: false, spelt: 'absent' }
  const keys = Object.keys(response)
  const key = keys.length === 1 && RESULT_KEYS.includes(keys[0]!) ? keys[0]! : undefined
  if (key === undefined) return { content: [textOf(JSON.stringify(response))], failed: false, spelt: 'object' }
  const value = response[key]!
  const failed = key === 'error'
  return typeof value === 'string'
    ? { content: [textOf(value)], failed, spelt: { key } }
    : { content: [textOf(JSON.stringify(value))], failed, spelt: { key, json: true } }
}

const textOf = (text: string): Part => ({ type: 'text', text })

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
    ...nodeOf(remainsOf(opened, inline === undefined ? FILE : INLINE, {}, { [field]: read.remains })),
  }
}
