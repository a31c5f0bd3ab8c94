import * as v from 'valibot'
import { isObject } from '../../canonical/node.ts'
import { SETTINGS } from '../../formats/settings/cohere-chat.ts'
import { byValue, json, maybe, maybeNumber, maybeText, settingEntries, shape } from '../errors/validation-error.ts'

export const FORMAT = 'cohere-chat'

const maybeFlag = maybe(v.boolean())

/**
 * Returns the schema of a content field: a string, or a list of parts. The input determines which, so that the error
 * names the faulty part.
 */
const content = (parts: { readonly [type: string]: v.GenericSchema }): v.GenericSchema => {
  const part = byValue('type', parts, shape({ type: v.string() }))
  return maybe(v.lazy((input): v.GenericSchema => (Array.isArray(input) ? v.array(part) : v.string())))
}

const textPart = shape({ text: v.string() })

/** Parts that are read in system and user turns. Parts of other types become opaque. */
const INPUT = { text: textPart, image_url: shape({ image_url: shape({ url: v.string(), detail: maybeText }) }) }
const ASSISTANT_PARTS = { text: textPart, thinking: shape({ thinking: v.string() }) }
const RESULT_PARTS = { text: textPart, document: shape({ document: shape({ id: maybeText }) }) }

/** Types of parts that are read in each kind of content. */
export const PART_TYPES = {
  input: new Set(Object.keys(INPUT)),
  spoken: new Set(Object.keys(ASSISTANT_PARTS)),
  result: new Set(Object.keys(RESULT_PARTS)),
}

const callBody = shape({ name: v.string(), arguments: maybeText })
const functionCall = shape({ id: maybeText, function: callBody })
const call = byValue('type', { function: functionCall }, shape({ type: v.string() }), functionCall)

const MESSAGES = {
  system: shape({ content: content(INPUT) }),
  user: shape({ content: content(INPUT) }),
  assistant: shape({
    content: content(ASSISTANT_PARTS),
    tool_plan: maybeText,
    tool_calls: maybe(v.array(call)),
    citations: maybe(v.array(json)),
  }),
  tool: shape({ content: content(RESULT_PARTS), tool_call_id: maybeText }),
}

/** Roles with a schema. Messages with any other role are refused. */
export const ROLES: ReadonlySet<string> = new Set(Object.keys(MESSAGES))

const message = byValue('role', MESSAGES, shape({ role: v.picklist(Object.keys(MESSAGES)) }))

/** Returns true for a function with a definition. Any other tool becomes opaque. */
export const isFunction = (wire: unknown): boolean =>
  isObject(wire) && (wire['type'] == null || wire['type'] === 'function') && wire['function'] != null

const definition = shape({ name: v.string(), description: maybeText, parameters: maybe(json) })
const tool = v.lazy(
  (input): v.GenericSchema => (isFunction(input) ? shape({ function: definition }) : shape({ type: maybeText })),
)

/**
 * Schema of the chat request (docs/wire/cohere-chat.md#request). Unknown fields are accepted, and free-form JSON is
 * never validated.
 */
export const request = shape({
  ...settingEntries(SETTINGS),
  model: v.string(),
  messages: v.array(message),
  stream: maybeFlag,
  documents: maybe(v.array(v.union([v.string(), json]))),
  stop_sequences: maybe(v.array(v.string())),
  logprobs: maybeFlag,
  tools: maybe(v.array(tool)),
  tool_choice: maybeText,
  strict_tools: maybeFlag,
  response_format: maybe(shape({ type: maybeText })),
  thinking: maybe(shape({ type: maybeText, token_budget: maybeNumber })),
})
