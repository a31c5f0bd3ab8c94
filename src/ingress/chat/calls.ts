import type { Part, ToolCallPart } from '../../canonical/content.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { isEnvelope } from '../../canonical/signature.ts'
import { nested, object, required, rest, text } from '../fields.ts'

const FORMAT = 'chat'

const TAKEN = { function: new Set(['id', 'type', 'function']), custom: new Set(['id', 'type', 'custom']) }
const TAKEN_SIGNED = {
  function: new Set([...TAKEN.function, 'extra_content']),
  custom: new Set([...TAKEN.custom, 'extra_content']),
}
const FUNCTION = new Set(['name', 'arguments'])
const CUSTOM = new Set(['name', 'input'])

/** Some upstreams send both kinds of call at once, the unused one empty; the type decides. */
export const isCustom = (wire: unknown): boolean =>
  isObject(wire) && isObject(wire['custom']) && (wire['type'] === 'custom' || !isObject(wire['function']))

/** One tool call, after its thought signature where it has one. */
export function readCall(wire: JsonObject): readonly Part[] {
  const part = isCustom(wire) ? readCustomCall(wire) : readFunctionCall(wire)
  const signature = thoughtSignature(wire)
  if (signature === undefined) return [part]
  return [{ type: 'reasoning', text: '', signature: { format: 'contents', value: signature } }, part]
}

/** The signature of a call in Google's own chat endpoint: `extra_content.google.thought_signature`. */
export function thoughtSignature(wire: JsonObject): string | undefined {
  const extra = wire['extra_content']
  const google = isObject(extra) ? extra['google'] : undefined
  const value = isObject(google) ? google['thought_signature'] : undefined
  return typeof value === 'string' &&
    !isEnvelope(value) &&
    Object.keys(extra as object).length === 1 &&
    Object.keys(google as object).length === 1
    ? value
    : undefined
}

function readFunctionCall(wire: JsonObject): ToolCallPart {
  const called = required(object(wire['function']))
  const given = called['arguments']
  return {
    type: 'tool-call',
    id: text(wire['id']) ?? '',
    name: required(text(called['name'])),
    arguments: isObject(given) ? JSON.stringify(given) : (text(given) ?? ''),
    ...nested(FORMAT, wire, 'function', called, FUNCTION, takenOf(wire).function, {
      ...spellCall(wire),
      arguments: isObject(given) ? 'object' : given === undefined ? 'absent' : undefined,
    }),
  }
}

function readCustomCall(wire: JsonObject): ToolCallPart {
  const called = required(object(wire['custom']))
  return {
    type: 'tool-call',
    id: text(wire['id']) ?? '',
    name: required(text(called['name'])),
    arguments: text(called['input']) ?? '',
    freeform: true,
    ...nested(FORMAT, wire, 'custom', called, CUSTOM, takenOf(wire).custom, spellCall(wire)),
  }
}

const takenOf = (wire: JsonObject) => (thoughtSignature(wire) === undefined ? TAKEN : TAKEN_SIGNED)

const spellCall = (wire: JsonObject) => ({
  type: wire['type'] === undefined ? 'absent' : undefined,
  id: wire['id'] === undefined ? 'absent' : undefined,
})

/** The deprecated `function_call`: it has no id, so its name is one. */
export function readLegacyCall(wire: JsonObject): ToolCallPart {
  const name = required(text(wire['name']))
  return {
    type: 'tool-call',
    id: name,
    name,
    arguments: text(wire['arguments']) ?? '',
    ...rest(FORMAT, wire, FUNCTION, { as: 'function_call' }),
  }
}
