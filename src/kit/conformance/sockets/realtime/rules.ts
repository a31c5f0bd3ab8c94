import type { Rule } from '../../rules.ts'

const WIRE = 'docs/wire/realtime.md'
const EVENTS = `${WIRE}#server-events`
const ORDER = `${WIRE}#order`
const RESPONSES = `${WIRE}#responses`
const CLIENT = `${WIRE}#client-events`
const RFC = 'https://www.rfc-editor.org/rfc/rfc6455'

const stream = (id: string, source: string, says: string, level: Rule['level'] = 'must'): Rule => ({
  ...{ id, on: 'stream', level, source, says },
})
const request = (id: string, source: string, says: string, level: Rule['level'] = 'must'): Rule => ({
  ...{ id, on: 'request', level, source, says },
})

export const RULES: readonly Rule[] = [
  stream('event', EVENTS, 'Every frame is a JSON object with a type.'),
  stream('event-id', EVENTS, 'Every event has an event_id.'),
  stream('event-id.unique', EVENTS, 'No two events have the same event_id.', 'should'),
  stream('version', `${WIRE}#versions`, 'Every event has its name in the version of the session.'),
  stream('created', ORDER, 'The first event is session.created.'),
  stream('updated', CLIENT, 'The server answers every session.update with session.updated or an error.'),
  stream('response.one', ORDER, 'A conversation has at most one response at a time.'),
  stream('response.created', RESPONSES, 'response.created has a response with an id and the status in_progress.'),
  stream('response.open', ORDER, 'Events of a response are sent between its response.created and its response.done.'),
  stream('response.done', ORDER, 'Every response ends with response.done.'),
  stream('response.status', RESPONSES, 'response.done has a final status.'),
  stream('response.output', RESPONSES, 'response.done lists the items of the response as they were sent.'),
  stream('usage', RESPONSES, 'A completed response has its usage.', 'should'),
  stream('item.added', ORDER, 'response.output_item.added announces every item before its parts and deltas.'),
  stream('item.done', ORDER, 'response.output_item.done ends every item, with the same id.'),
  stream('item.created', ORDER, 'An event of the conversation announces every item of a response.'),
  stream('item.known', ORDER, 'Events about an item refer to one that the conversation has.'),
  stream('item.same', ORDER, 'Events that end an item show the same item.'),
  stream('item.index', RESPONSES, 'The items of a response are numbered from 0 in output_index.', 'should'),
  stream('part.added', ORDER, 'response.content_part.added announces every part before its deltas.'),
  stream('part.done', ORDER, 'response.content_part.done ends every part.'),
  stream('text.done', EVENTS, 'Every text or transcript has a done event, which equals the sum of its deltas.'),
  stream('audio.done', EVENTS, 'A done event ends the audio of a part.'),
  stream('audio.base64', `${WIRE}#audio`, 'Audio is base64.'),
  stream(
    'arguments.done',
    EVENTS,
    'The arguments of every call have a done event, which equals the sum of their deltas.',
  ),
  stream('call-id', EVENTS, 'Events of a call have the call_id of its item.'),
  stream('heard.done', EVENTS, 'The deltas of the user’s transcript add up to it.', 'should'),
  stream('error', `${WIRE}#errors`, 'An error has a type and a message.'),
  stream('close', `${RFC}#section-7.1.1`, 'The connection ends with a close frame.'),
  request('event', CLIENT, 'Every frame is a JSON object whose type is a client event.'),
  request('session.type', `${WIRE}#session`, 'A GA session.update states the type of the session.'),
  request('session.fields', `${WIRE}#session`, 'A session.update only has fields of its version.'),
  request('version', `${WIRE}#versions`, 'A beta session has the header OpenAI-Beta: realtime=v1, GA sessions do not.'),
  request('item-known', CLIENT, 'A truncated item or a cancelled response is one that the server announced.'),
  request('audio.base64', `${WIRE}#audio`, 'Audio is base64.'),
]
