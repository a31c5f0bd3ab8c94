import { type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest, Output, Reasoning } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { SETTINGS } from '../../formats/settings/cohere-chat.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import {
  anyObject,
  extrasOf,
  flag,
  list,
  number,
  object,
  objects,
  required,
  text,
  texts,
  withDefined,
} from '../fields.ts'
import { readSettings } from '../settings.ts'
import { readMessages } from './content.ts'
import { withDocuments } from './documents.ts'
import { readToolChoice, readTools } from './tools.ts'
import * as wire from './wire.ts'
import { FORMAT } from './wire.ts'

/**
 * Reads the body of `POST /v2/chat` (docs/wire/cohere-chat.md#request).
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readOrExplain(wire.request, incoming.body, () => withWireSource(readBody(incoming.body), FORMAT, incoming))

const KNOWN_FIELDS = new Set([
  ...SETTINGS.taken,
  ...['model', 'messages', 'stream', 'documents', 'stop_sequences', 'logprobs', 'tools', 'tool_choice'],
  ...['strict_tools', 'response_format', 'thinking'],
])

function readBody(body: JsonObject): CanonicalRequest {
  const unreadFields: string[] = []
  const settings = readSettings(SETTINGS, body)
  const model = required(text(body['model']))
  const messages = withDocuments(readMessages(required(objects(body['messages']))), list(body['documents']))
  const logprobs = flag(body['logprobs'])
  if (logprobs === false) unreadFields.push('logprobs')
  const stop = texts(body['stop_sequences'])
  const sampling = withDefined(settings.sampling, { stop, logprobs: logprobs === true ? 0 : undefined })
  const output = withDefined(settings.output, { text: readShape(body, unreadFields) })
  const others = {
    tools: readTools(body, unreadFields),
    toolChoice: readToolChoice(body),
    reasoning: readThinking(body, unreadFields),
    ...settings.request,
    ...extrasOf(FORMAT, body, KNOWN_FIELDS, unreadFields),
  }
  return withDefined({ model, messages, output, sampling, stream: flag(body['stream']) ?? false }, others)
}

/** Reads the requested shape of the answer. A shape of an unknown type becomes an extra. */
function readShape(body: JsonObject, unreadFields: string[]): Output['text'] {
  const format = object(body['response_format'])
  const type = text(format?.['type'])
  if (format === undefined) return undefined
  if (type === 'text') return { shape: 'text', ...extrasOf(FORMAT, format, TYPE) }
  const schema = anyObject(format['json_schema'])
  if (type === 'json_object' && schema !== undefined)
    return { shape: 'schema', schema, ...extrasOf(FORMAT, format, SCHEMA) }
  if (type === 'json_object') return { shape: 'json', ...extrasOf(FORMAT, format, TYPE) }
  unreadFields.push('response_format')
  return undefined
}

const TYPE = new Set(['type'])
const SCHEMA = new Set(['type', 'json_schema'])
const BUDGET = new Set(['type', 'token_budget'])

/** Budget for thinking without a limit. */
const UNLIMITED = -1

/** Reads the thinking settings. Settings of an unknown type become an extra. */
function readThinking(body: JsonObject, unreadFields: string[]): Reasoning | undefined {
  const thinking = object(body['thinking'])
  const type = text(thinking?.['type'])
  const budget = number(thinking?.['token_budget'])
  if (thinking === undefined) return undefined
  if (type === 'disabled') return { effort: 'none', ...extrasOf(FORMAT, thinking, TYPE) }
  if (type === 'enabled' || (type === undefined && budget !== undefined))
    return { budget: budget ?? UNLIMITED, ...extrasOf(FORMAT, thinking, BUDGET) }
  unreadFields.push('thinking')
  return undefined
}
