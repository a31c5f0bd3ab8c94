import type { Rule } from '../../rules.ts'

const STREAMING = 'https://platform.openai.com/docs/api-reference/chat-streaming/streaming'
const CREATE = 'https://platform.openai.com/docs/api-reference/chat/create'
const OBJECT = 'https://platform.openai.com/docs/api-reference/chat/object'
const ERRORS = 'https://platform.openai.com/docs/guides/error-codes'

/** Rule for the errors of all OpenAI endpoints. */
export const errorType: Rule = {
  ...{ id: 'error-type', on: 'error', level: 'must', source: ERRORS },
  says: 'The body is an object with an error that has a message and a type.',
}

export const rules: readonly Rule[] = [
  {
    ...{ id: 'tool-results-paired', on: 'request', level: 'must', source: CREATE },
    says: 'Every tool message answers a call of the assistant message before it.',
  },
  {
    ...{ id: 'arguments-are-text', on: 'request', level: 'must', source: CREATE },
    says: 'The arguments of a call are JSON in a string.',
  },
  {
    ...{ id: 'arguments-are-text', on: 'answer', level: 'must', source: OBJECT },
    says: 'The arguments of a call are JSON in a string.',
  },
  {
    ...{ id: 'choice-index', on: 'answer', level: 'must', source: OBJECT },
    says: 'The choices have the indexes from 0 on, each once.',
  },
  {
    ...{ id: 'call-has-id', on: 'answer', level: 'must', source: OBJECT },
    says: 'Every call has a unique id.',
  },
  {
    ...{ id: 'finish-fits-calls', on: 'answer', level: 'should', source: OBJECT },
    says: 'An answer that calls tools finishes with tool_calls.',
  },
  {
    ...{ id: 'usage-adds-up', on: 'answer', level: 'should', source: OBJECT },
    says: 'total_tokens is the sum of prompt_tokens and completion_tokens.',
  },
  {
    ...{ id: 'no-event-name', on: 'stream', level: 'should', source: STREAMING },
    says: 'Chunks have no event field.',
  },
  {
    ...{ id: 'json', on: 'stream', level: 'must', source: STREAMING },
    says: 'The data of every event but the last is a JSON object.',
  },
  {
    ...{ id: 'done', on: 'stream', level: 'must', source: CREATE },
    says: 'The last event of the stream is data: [DONE], and it occurs once.',
  },
  {
    ...{ id: 'one-id', on: 'stream', level: 'must', source: STREAMING },
    says: 'All chunks have the same id.',
  },
  {
    ...{ id: 'role-first', on: 'stream', level: 'should', source: STREAMING },
    says: 'The first delta of a choice has the role.',
  },
  {
    ...{ id: 'call-begins', on: 'stream', level: 'must', source: STREAMING },
    says: 'The first delta of a call has its id and its name.',
  },
  {
    ...{ id: 'call-index', on: 'stream', level: 'must', source: STREAMING },
    says: 'Every delta of a call has its index; indexes start at 0 and increase by one per call.',
  },
  {
    ...{ id: 'call-once', on: 'stream', level: 'must', source: STREAMING },
    says: 'The id and the name of a call do not change in later deltas.',
  },
  {
    ...{ id: 'arguments-are-text', on: 'stream', level: 'must', source: STREAMING },
    says: 'The argument deltas of a call are strings that add up to JSON.',
  },
  {
    ...{ id: 'finish', on: 'stream', level: 'must', source: STREAMING },
    says: 'A choice has at most one finish_reason, and no content follows it.',
  },
  {
    ...{ id: 'finish-present', on: 'stream', level: 'should', source: STREAMING },
    says: 'Every choice has a finish_reason. Not every provider sends one.',
  },
  {
    ...{ id: 'finish-fits-calls', on: 'stream', level: 'should', source: STREAMING },
    says: 'A choice that calls tools finishes with tool_calls.',
  },
  {
    ...{ id: 'usage-when-asked', on: 'stream', level: 'must', source: `${CREATE}#stream_options` },
    says: 'If stream_options.include_usage is set, the stream contains usage.',
  },
  {
    ...{ id: 'usage-last', on: 'stream', level: 'should', source: `${CREATE}#stream_options` },
    says: 'Usage is sent once, in a chunk without choices, after every choice has finished.',
  },
  {
    ...{ id: 'usage-adds-up', on: 'stream', level: 'should', source: OBJECT },
    says: 'total_tokens is the sum of prompt_tokens and completion_tokens.',
  },
  {
    ...{ id: 'error-event', on: 'stream', level: 'must', source: 'docs/wire/errors.md#in-streams' },
    says: 'An error is an object with a message.',
  },
  errorType,
]
