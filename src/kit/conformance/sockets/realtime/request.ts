import { compact, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { dataOf, typeOf } from '../frame.ts'
import { audioOf, type SessionItem, type SessionRequest, type SessionSettings } from '../session-facts.ts'
import type { Frames } from '../session-format.ts'
import { settingsOf } from './settings.ts'

/* Extracts the facts of a client's events. */

const PARTS = new Set(['input_text', 'output_text', 'text'])

const textIn = (item: JsonObject): string =>
  listOf(item['content'])
    .map(objectOf)
    .flatMap(part => (PARTS.has(textOf(part['type']) ?? '') ? [textOf(part['text']) ?? ''] : []))
    .join('')

/** Returns the paths of calls by call id, based on the server's events. */
const callPaths = (frames: Frames): ReadonlyMap<string, string> => {
  const ids = dataOf(frames.server).flatMap(data => {
    const item = objectOf(data['item'])
    const isCall = typeOf(data) === 'response.output_item.added' && item['type'] === 'function_call'
    return isCall ? [textOf(item['call_id']) ?? ''] : []
  })
  return new Map(ids.map((id, index) => [id, `calls[${index}]`]))
}

function itemOf(item: JsonObject, calls: ReadonlyMap<string, string>): SessionItem {
  if (item['type'] !== 'function_call_output')
    return compact({ role: textOf(item['role']) ?? String(item['type']), text: textIn(item) })
  const answers = calls.get(textOf(item['call_id']) ?? '')
  return { role: 'tool', result: compact({ answers, text: textOf(item['output']) }) }
}

/** Returns the settings in the last `session.updated`, or undefined if there is none. */
export function reportedSettingsOf({ server }: Frames): SessionSettings | undefined {
  const last = dataOf(server).findLast(data => typeOf(data) === 'session.updated')
  return last && settingsOf(objectOf(last['session']))
}

/** Kinds of the client's events whose order decides what the model hears. */
const KINDS: { readonly [type: string]: string } = {
  'conversation.item.create': 'item',
  'conversation.item.truncate': 'truncate',
  'conversation.item.delete': 'delete',
  'input_audio_buffer.append': 'audio',
  'input_audio_buffer.commit': 'commit',
  'input_audio_buffer.clear': 'clear',
  'response.create': 'ask',
  'response.cancel': 'cancel',
}

/** Returns the facts of all events that the client sent. */
export function requestOf(frames: Frames): SessionRequest {
  const events = dataOf(frames.client)
  const eventsOfType = (type: string): JsonObject[] => events.filter(data => typeOf(data) === type)
  const settings: SessionSettings = Object.assign(
    {},
    ...eventsOfType('session.update').map(({ session }) => settingsOf(objectOf(session))),
  )
  const calls = callPaths(frames)
  const pieces = eventsOfType('input_audio_buffer.append').map(({ audio }) => textOf(audio) ?? '')
  const kinds = events.flatMap(data => KINDS[typeOf(data)] ?? [])
  return compact({
    settings,
    sequence: kinds.filter((kind, index) => kind !== kinds[index - 1]).join(' ') || undefined,
    items: eventsOfType('conversation.item.create').map(({ item }) => itemOf(objectOf(item), calls)),
    audio: audioOf(pieces, settings.inputFormat ?? 'pcm@24000'),
    commits: eventsOfType('input_audio_buffer.commit').length || undefined,
    asks: eventsOfType('response.create').map(({ response }) =>
      compact({ asked: true as const, instructions: textOf(objectOf(response)['instructions']) }),
    ),
    cancels: eventsOfType('response.cancel').length || undefined,
    deletions: eventsOfType('conversation.item.delete').length || undefined,
    truncations: eventsOfType('conversation.item.truncate').flatMap(({ audio_end_ms: end }) => numberOf(end) ?? []),
  }) as SessionRequest
}
