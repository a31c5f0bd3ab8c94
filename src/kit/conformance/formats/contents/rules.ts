import type { Level, Rule, Subject } from '../../rules.ts'

/* Sources are headings in this project's reference, which cites the public pages. */

const rule = (id: string, on: Subject, level: Level, section: string, says: string): Rule => ({
  ...{ id, on, level, says },
  source: `docs/wire/${section}`,
})

const request = (id: string, section: string, says: string): Rule => rule(id, 'request', 'must', section, says)
const answer = (id: string, section: string, says: string, level: Level = 'must'): Rule =>
  rule(id, 'answer', level, section, says)
const stream = (id: string, section: string, says: string, level: Level = 'must'): Rule =>
  rule(id, 'stream', level, section, says)

const PARTS = 'contents.md#parts'
const STREAM = 'contents.md#stream'
const FINISH = 'contents.md#finish-reasons'
const USAGE = 'contents.md#usage'
const RESPONSE = 'contents.md#response'

const ONE_KIND = 'Every part has exactly one kind of data.'
const NAMED = 'Every call has a name.'
const OBJECT = 'The args of a call are an object.'
const MODEL = 'The role of a content is model.'
const ADDS_UP = 'totalTokenCount is the sum of prompt, tool use, candidates and thoughts.'

export const rules: readonly Rule[] = [
  request('contents-present', 'contents.md#request', 'The request has contents, and every content has parts.'),
  request('role', 'contents.md#request', 'The role of a content is user or model.'),
  request('one-kind-of-data', PARTS, ONE_KIND),
  request('call-has-name', PARTS, NAMED),
  request('arguments-are-object', PARTS, OBJECT),
  request('response-is-object', PARTS, 'Every functionResponse has a name, and its response is an object.'),
  request(
    'responses-paired',
    'contents.md#request',
    'If a turn has responses, they match the calls of the previous turn one to one.',
  ),
  request('function-name', 'contents.md#tools', 'The name of a function begins with a letter or an underscore.'),
  request('one-schema', 'contents.md#schemas', 'A schema is stated in only one of the two dialects.'),
  request('schema-needs-type', 'contents.md#generation-config', 'A schema of the answer has a responseMimeType.'),
  request('schema-subset', 'contents.md#schemas', 'parameters and responseSchema only have fields of the subset.'),
  answer('one-kind-of-data', PARTS, ONE_KIND),
  answer('call-has-name', PARTS, NAMED),
  answer('arguments-are-object', PARTS, OBJECT),
  answer('role', RESPONSE, MODEL, 'should'),
  answer('candidate-index', RESPONSE, 'The candidates have the indexes from 0 on, each once.'),
  answer(
    'finish-present',
    FINISH,
    'Every candidate has a finishReason; if the prompt was blocked, there is promptFeedback instead.',
  ),
  answer('usage-adds-up', USAGE, ADDS_UP, 'should'),
  stream('no-event-name', STREAM, 'Events have no event field.', 'should'),
  stream('json', STREAM, 'The data of every event is a JSON object; the stream does not end with [DONE].'),
  stream('one-id', RESPONSE, 'All events have the same responseId.'),
  stream('one-kind-of-data', PARTS, ONE_KIND),
  stream('call-has-name', PARTS, NAMED),
  stream('arguments-are-object', PARTS, OBJECT),
  stream('role', RESPONSE, MODEL, 'should'),
  stream('finish', STREAM, 'A candidate has at most one finishReason, and no content follows it.'),
  stream(
    'finish-present',
    STREAM,
    'Every candidate has a finishReason; without one, SDKs treat the stream as truncated.',
  ),
  stream('usage', USAGE, 'The stream contains usageMetadata.'),
  stream('usage-total', USAGE, 'totalTokenCount is a running total that never decreases.', 'should'),
  stream('usage-adds-up', USAGE, ADDS_UP, 'should'),
  stream(
    'error-code',
    'errors.md#in-streams',
    'An error has a numeric code from 400 to 599; SDKs overlook any other code.',
  ),
  stream('error-event', 'errors.md#bodies', 'An error has a message, and a status that belongs to its code.'),
  rule(
    'error-status',
    'error',
    'must',
    'errors.md#bodies',
    'The error has the HTTP status as code, a message and a status.',
  ),
  rule('status-fits', 'error', 'must', 'errors.md#google-statuses', 'The status of the error is one of its code.'),
]
