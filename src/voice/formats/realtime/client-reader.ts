import { invalid } from '../../../canonical/error.ts'
import { rowOf } from '../../../canonical/maps.ts'
import { defined, type Json, type JsonObject, parseObject } from '../../../canonical/node.ts'
import { excerpt } from '../../../canonical/text.ts'
import {
  type AudioFormat,
  type ConversationItem,
  PCM_24K,
  type ResponseSettings,
} from '../../../canonical/voice-session.ts'
import type { ClientEvent, Position } from '../../../canonical/voice-session-event.ts'
import { listAt, numberAt, objectAt, requiredObjectAt, requiredTextAt, textAt } from '../fields.ts'
import { readItem } from './items.ts'
import { readSettings } from './settings-reader.ts'
import { mediaTypeOf } from './wire.ts'

/**
 * Reads a caller's frames as canonical events. The only state is the input format, which also applies to audio in
 * items.
 */
export class ClientReader {
  private inputFormat: AudioFormat
  private readonly renameModels: (event: JsonObject) => JsonObject

  /**
   * @param renameModels function that replaces the model names in an event with the upstream's names. It throws if a
   * model must not be used.
   */
  constructor(inputFormat: AudioFormat = PCM_24K, renameModels = (event: JsonObject): JsonObject => event) {
    this.inputFormat = inputFormat
    this.renameModels = renameModels
  }

  /**
   * Reads one frame.
   *
   * @throws GatewayError `invalid-request` if the frame is not a JSON object, its event type is unknown, or a field has
   * the wrong type. The session continues. The caller gets the event id for the error from `eventIdOf`.
   */
  read(frame: string): ClientEvent {
    const value = parseObject(frame)
    if (value === undefined) throw invalid('The frame is not a JSON object.', undefined, 'invalid_json')
    const type = requiredTextAt(value['type'], 'type')
    const read = rowOf(EVENTS, type)
    if (read === undefined) throw invalid(`Unknown event type '${excerpt(type)}'.`, 'type', 'invalid_value')
    const event = read(type === APPEND ? value : this.renameModels(value), this.inputFormat)
    if (event.type === 'session-update') this.inputFormat = event.settings.input?.format ?? this.inputFormat
    const id = value['event_id']
    return typeof id === 'string' ? { ...event, id } : event
  }
}

/** Returns the caller's event id in a frame, or undefined if the frame has none or cannot be parsed. */
export function eventIdOf(frame: string): string | undefined {
  const id = parseObject(frame)?.['event_id']
  return typeof id === 'string' ? id : undefined
}

/** Type of the most frequent event. It contains no model names, so it is not searched for them. */
const APPEND = 'input_audio_buffer.append'

type Read = (value: JsonObject, inputFormat: AudioFormat) => ClientEvent

const EVENTS: { readonly [type: string]: Read } = {
  'session.update': ({ session }) => ({
    type: 'session-update',
    settings: readSettings(requiredObjectAt(session, 'session'), 'session'),
  }),
  'transcription_session.update': ({ session }) => ({
    type: 'session-update',
    settings: { ...readSettings(requiredObjectAt(session, 'session'), 'session'), purpose: 'transcription' },
  }),
  'input_audio_buffer.append': ({ audio }) => ({ type: 'audio-append', audio: audioOf(audio, 'audio') }),
  'input_audio_buffer.commit': () => ({ type: 'audio-commit' }),
  'input_audio_buffer.clear': () => ({ type: 'audio-clear' }),
  'output_audio_buffer.clear': () => ({ type: 'output-clear' }),
  'conversation.item.create': ({ item, previous_item_id }, inputFormat) => {
    const after = positionOf(textAt(previous_item_id, 'previous_item_id'))
    const read = itemOf(item, 'item', inputFormat)
    return { type: 'item-create', item: read, ...(after === undefined ? {} : { after }) }
  },
  'conversation.item.retrieve': ({ item_id }) => ({ type: 'item-retrieve', item: requiredTextAt(item_id, 'item_id') }),
  'conversation.item.delete': ({ item_id }) => ({ type: 'item-delete', item: requiredTextAt(item_id, 'item_id') }),
  'conversation.item.truncate': ({ item_id, content_index, audio_end_ms }) => ({
    type: 'item-truncate',
    item: requiredTextAt(item_id, 'item_id'),
    part: numberAt(content_index, 'content_index') ?? 0,
    audioEndMs: numberAt(audio_end_ms, 'audio_end_ms') ?? 0,
  }),
  'response.create': ({ response }, inputFormat) => {
    const fields = objectAt(response, 'response')
    return fields === undefined
      ? { type: 'response-create' }
      : { type: 'response-create', settings: readResponse(fields, inputFormat) }
  },
  'response.cancel': ({ response_id }) =>
    defined({ type: 'response-cancel' as const, response: textAt(response_id, 'response_id') }) as ClientEvent,
}

/** Reads `previous_item_id`. `root` means the start of the conversation. */
const positionOf = (id: string | undefined): Position | undefined => (id === 'root' ? null : id)

function readResponse(fields: JsonObject, inputFormat: AudioFormat): ResponseSettings {
  const context = listAt(fields['input'], 'response.input')
  return defined({
    ...readSettings(fields, 'response'),
    detached: fields['conversation'] === 'none' ? (true as const) : undefined,
    metadata: objectAt(fields['metadata'], 'response.metadata'),
    context: context?.map((item, index) => itemOf(item, `response.input[${index}]`, inputFormat)),
  }) as ResponseSettings
}

/** @throws GatewayError `invalid-request`, also if the audio is not base64. */
function itemOf(value: Json | undefined, path: string, inputFormat: AudioFormat): ConversationItem {
  const item = readItem(value, path, mediaTypeOf(inputFormat))
  for (const [index, part] of item.content.entries())
    if (part.type === 'media' && part.kind === 'audio' && part.source.type === 'base64')
      checkBase64(part.source.data, `${path}.content[${index}].audio`)
  return item
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/

/** @throws GatewayError `invalid-request` if the value is not base64. */
function audioOf(value: JsonObject[string] | undefined, path: string): Uint8Array {
  const text = requiredTextAt(value, path)
  checkBase64(text, path)
  return Buffer.from(text, 'base64')
}

function checkBase64(text: string, path: string): void {
  if (!BASE64.test(text)) throw invalid(`Invalid '${path}': expected base64.`, path, 'invalid_value')
}
