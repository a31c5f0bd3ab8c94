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
  stream('version', `${WIRE}#versions`, 'Every event has the name of the version that the session speaks.'),
  stream('created', ORDER, 'The first event is session.created.'),
  stream('updated', CLIENT, 'Every session.update is answered by session.updated or an error.'),
  stream('response.one', ORDER, 'A conversation has one response at a time.'),
  stream('response.created', RESPONSES, 'response.created shows a response with an id, in progress.'),
  stream('response.open', ORDER, 'Events of a response come between its response.created and its response.done.'),
  stream('response.done', ORDER, 'Every response ends with response.done.'),
  stream('response.status', RESPONSES, 'response.done has a final status.'),
  stream('response.output', RESPONSES, 'response.done lists the items of the response, as they were sent.'),
  stream('usage', RESPONSES, 'A completed response has its usage.', 'should'),
  stream('item.added', ORDER, 'response.output_item.added announces every item before its parts and deltas.'),
  stream('item.done', ORDER, 'response.output_item.done ends every item, with the same id.'),
  stream('item.created', ORDER, 'The conversation’s event announces every item of a response.'),
  stream('item.index', RESPONSES, 'output_index counts the items of a response from 0.', 'should'),
  stream('part.added', ORDER, 'response.content_part.added announces every part before its deltas.'),
  stream('part.done', ORDER, 'response.content_part.done ends every part.'),
  stream('text.done', EVENTS, 'The deltas of a text or transcript add up to its done event, and it has one.'),
  stream('audio.done', EVENTS, 'A done event ends the audio of a part.'),
  stream('audio.base64', `${WIRE}#audio`, 'Audio is base64.'),
  stream('arguments.done', EVENTS, 'The deltas of arguments add up to their done event, and they have one.'),
  stream('call-id', EVENTS, 'Events of a call have the call_id of its item.'),
  stream('error', `${WIRE}#errors`, 'An error has a type and a message.'),
  stream('close', `${RFC}#section-7.1.1`, 'The connection ends with a close frame.'),
  request('event', CLIENT, 'Every frame is a JSON object with the type of a client’s event.'),
  request('session.type', `${WIRE}#session`, 'A session.update of general availability has the type of the session.'),
  request('session.fields', `${WIRE}#session`, 'A session.update has the fields of its version.'),
  request('version', `${WIRE}#versions`, 'A beta session has the header OpenAI-Beta: realtime=v1, others have none.'),
  request('audio.base64', `${WIRE}#audio`, 'Audio is base64.'),
]
