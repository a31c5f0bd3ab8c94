import type { UsageFacts } from '../../facts.ts'
import { argumentsOf } from '../../facts.ts'
import { compact, type Json, type JsonObject, numberOf, objectOf, textOf } from '../../json.ts'
import { dataOf, typeOf } from '../frame.ts'
import { audioOf, type ResponseFacts, type SessionAnswer } from '../session-facts.ts'
import type { Frames } from '../session-format.ts'
import { generalName } from './names.ts'
import { settingsOf } from './settings.ts'

/* Extracts the facts of a server's events. Each response is assembled from its deltas. */

const FINISHES: { readonly [status: string]: string } = { completed: 'stop', cancelled: 'interrupted' }

function finishOf(response: JsonObject, hasCalls: boolean): string {
  const status = textOf(response['status']) ?? ''
  const { reason } = objectOf(response['status_details'])
  if (status === 'incomplete') return reason === 'max_output_tokens' ? 'length' : `incomplete:${String(reason)}`
  if (status === 'completed' && hasCalls) return 'calls'
  return FINISHES[status] ?? status
}

/** Returns the token counts of a response. */
function usageOf(value: Json | undefined): UsageFacts {
  const { input_tokens: input, output_tokens: output, input_token_details: details } = objectOf(value)
  const cached = numberOf(objectOf(details)['cached_tokens'])
  return compact({ input: numberOf(input), output: numberOf(output), cacheRead: cached || undefined })
}

/** Joins the deltas of one kind. Returns undefined if there are none. */
function joined(events: readonly JsonObject[], type: string): string | undefined {
  const deltas = events.filter(data => generalName(typeOf(data)) === type).map(({ delta }) => textOf(delta) ?? '')
  return deltas.length === 0 ? undefined : deltas.join('')
}

const failureOf = ({ type, code, message }: JsonObject) =>
  compact({ type: textOf(type), code: textOf(code), message: textOf(message) })

function responseOf(id: string, events: readonly JsonObject[], format: string): ResponseFacts {
  const ownEvents = events.filter(data => data['response_id'] === id)
  const end = events.find(data => typeOf(data) === 'response.done' && objectOf(data['response'])['id'] === id)
  const items = ownEvents
    .filter(data => typeOf(data) === 'response.output_item.added')
    .map(({ item }) => objectOf(item))
  const calls = items
    .filter(({ type }) => type === 'function_call')
    .map(item => {
      const itemEvents = ownEvents.filter(data => data['item_id'] === item['id'])
      const text = joined(itemEvents, 'response.function_call_arguments.delta') ?? ''
      return compact({ name: textOf(item['name']), arguments: argumentsOf(text), id: textOf(item['call_id']) })
    })
  const audio = ownEvents.filter(data => generalName(typeOf(data)) === 'response.output_audio.delta')
  const final = objectOf(end?.['response'])
  return compact({
    text: joined(ownEvents, 'response.output_text.delta'),
    transcript: joined(ownEvents, 'response.output_audio_transcript.delta'),
    audio: audioOf(
      audio.map(({ delta }) => textOf(delta) ?? ''),
      format,
    ),
    calls,
    failure: failureOf(objectOf(objectOf(final['status_details'])['error'])),
    finish: end === undefined ? undefined : finishOf(final, calls.length > 0),
    // xAI puts the usage next to the response.
    usage: usageOf(final['usage'] ?? end?.['usage']),
  }) as ResponseFacts
}

const SPEECH: { readonly [type: string]: string } = {
  'input_audio_buffer.speech_started': 'started',
  'input_audio_buffer.speech_stopped': 'stopped',
}

/** Returns the facts of all events that the server sent. */
export function answerOf({ server, client, closed }: Frames): SessionAnswer {
  const events = dataOf(server)
  const eventsOfType = (type: string): JsonObject[] => events.filter(data => typeOf(data) === type)
  const updates = dataOf(client).filter(data => typeOf(data) === 'session.update')
  const formats = updates.flatMap(({ session }) => settingsOf(objectOf(session)).outputFormat ?? [])
  const ids = eventsOfType('response.created').map(({ response }) => textOf(objectOf(response)['id']) ?? '')
  const transcripts = eventsOfType('conversation.item.input_audio_transcription.completed')
  const spoken = events.flatMap(data => SPEECH[typeOf(data)] ?? [])
  return compact({
    responses: ids.map(id => responseOf(id, events, formats.at(-1) ?? 'pcm@24000')),
    heard: transcripts.flatMap(({ transcript }) => textOf(transcript) ?? []),
    speech: spoken.length === 0 ? undefined : spoken.join(' '),
    truncated: eventsOfType('conversation.item.truncated').flatMap(({ audio_end_ms: end }) => numberOf(end) ?? []),
    errors: eventsOfType('error').map(({ error }) => failureOf(objectOf(error))),
    close: closed === undefined ? undefined : compact({ code: closed.code, reason: closed.reason || undefined }),
  }) as SessionAnswer
}

/** Returns the ids created by an event, which the client may then use. */
export function idsOf(data: JsonObject): string[] {
  const item = objectOf(data['item'])
  const type = generalName(typeOf(data))
  if (type === 'response.created') return [textOf(objectOf(data['response'])['id']) ?? '']
  if (type !== 'response.output_item.added') return []
  return [item['id'], item['call_id']].flatMap(id => textOf(id) ?? [])
}
