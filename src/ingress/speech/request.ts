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
  readOrExplain(wire.request, incoming.body, () => withWireSource(readBody(incoming.body), FORMAT, incoming))

const KNOWN_FIELDS = new Set(['model', 'input', 'voice', 'instructions', 'response_format', 'speed', 'stream_format'])

function readBody(body: JsonObject): CanonicalRequest {
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
    stream: flow === 'sse',
    ...extrasOf(FORMAT, body, KNOWN_FIELDS),
  }
}

function readAudio(body: JsonObject): Output['audio'] {
  const { voice, node } = readVoice(body['voice'])
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
  'output/audio/voice': ['voice'],
  'output/modalities': ['input'],
  stream: ['stream_format'],
}
