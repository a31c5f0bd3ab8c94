import type { CallIds } from '../../canonical/call-ids.ts'
import type { Part, ToolCallPart, ToolResultPart } from '../../canonical/content.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { defined, object, objects, text } from '../fields.ts'
import { contentsExtras, type Extras, FORMAT, inCamelCase } from './fields.ts'
import { readMedia } from './media.ts'

const CALL = new Set(['id', 'name', 'args'])

/** Reads a tool call with the extras of its object. Returns undefined if the call has no name. */
export function readCall(
  wire: JsonObject,
  ids: CallIds,
): { readonly call: ToolCallPart; readonly extras: Extras } | undefined {
  const fields = inCamelCase(wire, CALL)
  const name = text(fields['name'])
  const wireId = text(fields['id'])
  const args = object(fields['args'])
  if (name === undefined) return undefined
  const id = ids.call(wireId, name)
  return {
    call: { type: 'tool-call', id, name, arguments: args === undefined ? '{}' : JSON.stringify(args) },
    extras: contentsExtras(fields, CALL),
  }
}

const RESPONSE = new Set(['id', 'name', 'response', 'parts'])

/** Reads the result of a tool call: the content of `response`, and the media in `parts` next to it (trap 48). */
export function readResponse(
  wire: JsonObject,
  ids: CallIds,
): { readonly result: ToolResultPart; readonly extras: Extras } {
  const fields = inCamelCase(wire, RESPONSE)
  const name = text(fields['name'])
  const wireId = text(fields['id'])
  const parts = objects(fields['parts'])
  const response = object(fields['response'])
  const key = response && textKey(response)
  const content = response === undefined ? [] : [readOutput(key === undefined ? response : response[key]!)]
  const result: ToolResultPart = {
    type: 'tool-result',
    id: ids.result(wireId, name),
    ...defined({ name }),
    content: [...content, ...(parts ?? []).map(readMediaPart)],
    ...(key === 'error' ? { failed: true as const } : {}),
  }
  return { result, extras: contentsExtras(fields, RESPONSE) }
}

/** Keys that by convention contain the whole result. */
const RESULT_KEYS = ['result', 'output', 'error']

/** Returns the key that contains the whole response, or undefined if there are other keys. */
function textKey(response: JsonObject): string | undefined {
  const [key, ...others] = Object.keys(response)
  return key !== undefined && others.length === 0 && RESULT_KEYS.includes(key) ? key : undefined
}

/** Reads an output. Text is used as is; any other value becomes JSON text. */
const readOutput = (value: JsonObject[string]): Part => ({
  type: 'text',
  text: typeof value === 'string' ? value : JSON.stringify(value),
})

const PART = new Set(['inlineData', 'fileData'])
const KNOWN_FIELDS = { inlineData: new Set(['inlineData']), fileData: new Set(['fileData']) }

function readMediaPart(wire: JsonObject): Part {
  const fields = inCamelCase(wire, PART)
  const wireId = (['inlineData', 'fileData'] as const).filter(field => object(fields[field]) !== undefined)
  const [read, ...others] = wireId.map(field => readMedia(fields, field, KNOWN_FIELDS[field]))
  return read === undefined || others.length > 0 ? { type: 'opaque', format: FORMAT, value: wire } : read
}
