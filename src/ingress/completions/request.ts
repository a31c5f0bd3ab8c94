import type { Path } from '../../canonical/loss.ts'
import { type Json, type JsonObject, wireSourceOf, withWireSource } from '../../canonical/node.ts'
import { type CanonicalRequest, type Message, userMessage } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { SETTINGS } from '../../formats/settings/completions.ts'
import { type BodyFields, fieldsOfSettings } from '../body-fields.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import {
  defined,
  extrasOf,
  flag,
  list,
  number,
  oneOrMoreTexts,
  required,
  text,
  WrongType,
  withDefined,
} from '../fields.ts'
import { type Locate, locator } from '../locate.ts'
import { readSettings } from '../settings.ts'
import { withStreamOptions } from '../stream-options.ts'
import * as wire from './wire.ts'
import { FORMAT } from './wire.ts'

/**
 * Reads the body of `POST /v1/completions` (docs/wire/completions.md#request). Each prompt becomes a message to
 * continue.
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readOrExplain(wire.request, incoming.body, () => withWireSource(readBody(incoming.body), FORMAT, incoming))

function readBody(body: JsonObject): CanonicalRequest {
  const { sampling, output, request } = readSettings(SETTINGS, body)
  return {
    model: required(text(body['model'])),
    messages: readPrompt(body['prompt']),
    output: { ...output, completion: defined({ suffix: text(body['suffix']), echo: flag(body['echo']) }) },
    sampling: withDefined(sampling, { stop: oneOrMoreTexts(body['stop']), logprobs: number(body['logprobs']) }),
    ...request,
    stream: flag(body['stream']) ?? false,
    ...withStreamOptions(FORMAT, body, extrasOf(FORMAT, body, KNOWN_FIELDS)),
  }
}

const KNOWN_FIELDS = new Set([
  ...SETTINGS.taken,
  ...['model', 'prompt', 'suffix', 'echo', 'stream', 'stream_options', 'stop', 'logprobs'],
])

/**
 * Reads `prompt` in its four forms (docs/wire/completions.md#prompts), one message per prompt. Null means no prompt.
 */
function readPrompt(wire: Json | undefined): readonly Message[] {
  if (wire === null) return []
  if (typeof wire === 'string') return [userMessage(wire)]
  const entries = required(list(wire))
  if (entries.length > 0 && entries.every(entry => typeof entry === 'number')) return [tokensMessage(entries)]
  return entries.map(entry =>
    Array.isArray(entry) ? tokensMessage(numbers(entry)) : userMessage(required(text(entry))),
  )
}

/**
 * Creates a message from token ids. Token ids are specific to a model, so an upstream that does not accept them must
 * refuse the request.
 */
function tokensMessage(tokens: readonly Json[]): Message {
  const value: JsonObject = { tokens }
  return { role: 'user', content: [{ type: 'opaque', format: FORMAT, value, reference: true }] }
}

function numbers(entries: readonly Json[]): readonly number[] {
  if (entries.some(entry => typeof entry !== 'number')) throw WrongType.instance
  return entries as readonly number[]
}

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  ...fieldsOfSettings(SETTINGS),
  'sampling/stop': ['stop'],
  'sampling/logprobs': ['logprobs'],
  'output/completion': ['prompt'],
  'output/completion/suffix': ['suffix'],
  'output/completion/echo': ['echo'],
  stream: ['stream'],
}

/** Locates the prompts: a single string or list of tokens, or a list of these. */
export function locate(request: CanonicalRequest): Locate {
  const prompt = wireSourceOf<WireRequest>(request, FORMAT)?.wire.body['prompt']
  const isList = Array.isArray(prompt) && !prompt.every(entry => typeof entry === 'number')
  const paths = request.messages.map((_, index): Path => (isList ? ['prompt', index] : ['prompt']))
  return locator(
    'prompt',
    paths.map(at => ({ at, parts: [at] })),
    ['prompt'],
  )
}
