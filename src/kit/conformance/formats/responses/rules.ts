import type { Level, Rule, Subject } from '../../rules.ts'

/* Sources are headings in this project's reference, which cites the public pages. */

const rule = (id: string, on: Subject, section: string, says: string, level: Level = 'must'): Rule => ({
  ...{ id, on, level, says },
  source: `docs/wire/${section}`,
})

const INPUT = 'responses.md#input-items'
const RESPONSE = 'responses.md#response-object'
const USAGE = 'responses.md#usage'
const STREAM = 'responses.md#stream'
const ORDER = 'responses.md#order-of-events'

const JSON_TEXT = 'The arguments of a function call are JSON in a string.'

export const rules: readonly Rule[] = [
  rule('input-present', 'request', 'responses.md#request', 'The request has input.'),
  rule('results-paired', 'request', INPUT, 'Every result answers an earlier call, and every call has a result.'),
  rule(
    'logprobs-included',
    'request',
    'responses.md#request',
    'A request with top_logprobs includes message.output_text.logprobs, without which the answer has none.',
  ),
  rule('reasoning-followed', 'request', INPUT, 'Every reasoning item is followed by an item of the same turn.'),
  rule('arguments-are-text', 'request', INPUT, JSON_TEXT),
  rule('call-has-id', 'answer', INPUT, 'Every call has a unique call_id.'),
  rule('arguments-are-text', 'answer', INPUT, JSON_TEXT),
  rule('status', 'answer', RESPONSE, 'The response has a status; an incomplete response also has a reason.'),
  rule('usage-adds-up', 'answer', USAGE, 'total_tokens is the sum of input_tokens and output_tokens.', 'should'),
  rule('json', 'stream', STREAM, 'The data of every event but [DONE] is a JSON object with a type.'),
  rule('event-name', 'stream', STREAM, 'The event field of every event equals its type.', 'should'),
  rule('sequence', 'stream', STREAM, 'sequence_number increases by one with each event.'),
  rule(
    'created-first',
    'stream',
    ORDER,
    'response.created is the first event and occurs once. It has no output and no usage.',
  ),
  rule('one-id', 'stream', ORDER, 'The response has the same id in all events.'),
  rule(
    'item-index',
    'stream',
    ORDER,
    'Item indexes start at 0 and increase by one, and items are done before the final event.',
  ),
  rule('item-order', 'stream', ORDER, 'Items do not overlap. Some providers break this rule.', 'should'),
  rule('item-id', 'stream', ORDER, 'An item has the same id in all its events.'),
  rule('part-order', 'stream', ORDER, 'A part is added before its deltas, and done before the next one.'),
  rule('call-has-id', 'stream', STREAM, 'A call begins with its call_id and its name.'),
  rule('arguments-are-text', 'stream', STREAM, JSON_TEXT),
  rule('done-repeats', 'stream', STREAM, 'Events that end a text, a call or an item repeat the content of its deltas.'),
  rule('item-stays', 'stream', STREAM, 'A finished item has the type, the call_id and the name with which it began.'),
  rule('final-last', 'stream', ORDER, 'One final event ends the stream; only [DONE] may follow it.'),
  rule('final-repeats', 'stream', ORDER, 'The final event repeats the whole output.'),
  rule('status', 'stream', ORDER, 'The response of the final event has the status that the event names.'),
  rule('usage', 'stream', USAGE, 'The response of the final event has usage.'),
  rule('usage-adds-up', 'stream', USAGE, 'total_tokens is the sum of input_tokens and output_tokens.', 'should'),
  rule('error-event', 'stream', 'errors.md#in-streams', 'An error has a message.'),
  rule('error-type', 'error', 'errors.md#bodies', 'The body is an object with an error that has a message and a type.'),
]
