import { isObject, type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import { type CanonicalRequest, type Output, userMessage } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { BodyFields } from '../body-fields.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import {
  defined,
  definedIfAny,
  extrasOf,
  extrasWithin,
  NO_FIELDS,
  number,
  required,
  text,
  WrongType,
} from '../fields.ts'
import { locateInputAndInstructions } from '../locate.ts'
import * as wire from './wire.ts'
import { FORMAT, mediaTypeOf } from './wire.ts'

/**
 * Reads the body of `POST /v1/audio/speech` (docs/wire/speech.md#request).
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readOrExplain(wire.request, incoming.body, () => withWireSource(readBody(incoming), FORMAT, incoming))

const KNOWN_FIELDS = new Set([
  ...['model', 'input', 'voice', 'voice_id', 'instructions', 'response_format', 'speed', 'stream_format'],
])

/** Fields that only clients of Mistral send (docs/wire/speech.md#mistral). */
const MISTRAL_FIELDS = ['voice_id', 'ref_audio']

/** Returns true for clients of Mistral, which expect its answers. */
const isOfMistral = ({ body, headers }: WireRequest): boolean =>
  body['voice'] == null &&
  (MISTRAL_FIELDS.some(field => body[field] != null) || /^mistral-client-/.test(headers['user-agent'] ?? ''))

function readBody(incoming: WireRequest): CanonicalRequest {
  const { body } = incoming
  const isMistral = isOfMistral(incoming)
  const model = required(text(body['model']))
  const input = required(text(body['input']))
  const instructions = text(body['instructions'])
  const flow = text(body['stream_format'])
  if (flow !== undefined && flow !== 'sse' && flow !== 'audio') throw WrongType.instance
  return {
    model,
    messages: [
      ...(instructions === undefined ? [] : [{ ...userMessage(instructions), role: 'system' } as const]),
      userMessage(input),
    ],
    output: { modalities: ['audio'], ...defined({ audio: readAudio(body) }) },
    sampling: {},
    stream: flow === 'sse' || (isMistral && body['stream'] === true),
    ...extrasOf(FORMAT, body, isMistral ? MISTRALS_KNOWN_FIELDS : KNOWN_FIELDS, isMistral ? [] : ['voice_id']),
    ...(isMistral ? { spelling: { [FORMAT]: { style: 'mistral' } } } : {}),
  }
}

/** `stream` has the meaning of `stream_format` there. */
const MISTRALS_KNOWN_FIELDS = new Set([...KNOWN_FIELDS, 'stream'])

function readAudio(body: JsonObject): Output['audio'] {
  const { voice, node } = readVoice(body['voice'] ?? body['voice_id'])
  const format = text(body['response_format'])
  const mediaType = format === undefined ? undefined : required(mediaTypeOf(format))
  return definedIfAny({ voice, mediaType, speed: number(body['speed']), ...node })
}

const ID = new Set(['id'])

/** Reads the voice: a built-in one by name, or a custom one by id, `{ id }`. */
function readVoice(wire: Json | undefined) {
  if (!isObject(wire)) return { voice: text(wire), node: {} }
  return { voice: required(text(wire['id'])), node: extrasWithin(FORMAT, {}, 'voice', wire, ID, NO_FIELDS) }
}

/** Locates the input text and its instructions in the body. */
export const locate = locateInputAndInstructions('input', 'instructions')

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  'output/audio': ['input'],
  'output/audio/extras/voice': ['voice'],
  'output/audio/mediaType': ['response_format'],
  'output/audio/speed': ['speed'],
  'output/audio/voice': ['voice', 'voice_id'],
  'output/modalities': ['input'],
  stream: ['stream_format', 'stream'],
}
