import type { Rule } from '../../rules.ts'

const STREAMING = 'https://platform.claude.com/docs/en/build-with-claude/streaming'
const CREATE = 'https://platform.claude.com/docs/en/api/messages'
const TOOLS = 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use'
const ERRORS = 'https://platform.claude.com/docs/en/api/errors'
const SDK = 'https://github.com/anthropics/anthropic-sdk-typescript/blob/main/CHANGELOG.md'
const VERSIONS = 'https://platform.claude.com/docs/en/api/versioning'

export const rules: readonly Rule[] = [
  {
    ...{ id: 'version-header', on: 'request', level: 'must', source: VERSIONS },
    says: 'Every request has the header anthropic-version.',
  },
  {
    ...{ id: 'version-fields', on: 'request', level: 'must', source: SDK },
    says: 'A request of 2026-10-21 has no sampling settings, no documents in assistant turns and no citations in user turns.',
  },
  {
    ...{ id: 'version-key', on: 'request', level: 'should', source: SDK },
    says: 'A request of 2026-10-21 sends its key as a Bearer token, like the publisher’s clients of that version.',
  },
  {
    ...{ id: 'tool-results-paired', on: 'request', level: 'must', source: TOOLS },
    says: 'The user turn after tool_use blocks has exactly one tool_result per call.',
  },
  {
    ...{ id: 'user-first', on: 'request', level: 'must', source: CREATE },
    says: 'The first turn is from the user.',
  },
  {
    ...{ id: 'no-empty-text', on: 'request', level: 'must', source: CREATE },
    says: 'Text blocks are not empty.',
  },
  {
    ...{ id: 'signed-reasoning', on: 'request', level: 'must', source: `${STREAMING}#thinking-delta` },
    says: 'Every thinking block in a history has its signature.',
  },
  {
    ...{ id: 'call-has-id', on: 'answer', level: 'must', source: CREATE },
    says: 'Every call has a unique id, and its input is an object.',
  },
  {
    ...{ id: 'stop-reason', on: 'answer', level: 'must', source: CREATE },
    says: 'A whole answer has a stop_reason.',
  },
  {
    ...{ id: 'stop-fits-calls', on: 'answer', level: 'must', source: CREATE },
    says: 'An answer that stops with tool_use calls a tool, and one that ends its turn calls none.',
  },
  {
    ...{ id: 'event-name', on: 'stream', level: 'must', source: STREAMING },
    says: 'The event field of every event equals its type.',
  },
  {
    ...{ id: 'json', on: 'stream', level: 'must', source: STREAMING },
    says: 'The data of every event is a JSON object with a type.',
  },
  {
    ...{ id: 'start-first', on: 'stream', level: 'must', source: STREAMING },
    says: 'message_start is the first event and occurs once. Its message has no content and no stop_reason.',
  },
  {
    ...{ id: 'block-index', on: 'stream', level: 'must', source: STREAMING },
    says: 'Block indexes start at 0 and increase by one, and blocks do not overlap.',
  },
  {
    ...{ id: 'block-stops', on: 'stream', level: 'must', source: STREAMING },
    says: 'Every block stops before the next one starts and before message_delta.',
  },
  {
    ...{ id: 'delta-fits-block', on: 'stream', level: 'must', source: STREAMING },
    says: 'A delta fits its block: text_delta in a text block, thinking_delta in a thinking block.',
  },
  {
    ...{ id: 'input-json', on: 'stream', level: 'must', source: STREAMING },
    says: 'The input_json_delta events of a call add up to a JSON object.',
  },
  {
    ...{ id: 'call-has-id', on: 'stream', level: 'must', source: STREAMING },
    says: 'A tool_use block begins with its id and its name.',
  },
  {
    ...{ id: 'signature-last', on: 'stream', level: 'should', source: STREAMING },
    says: 'The last delta of a thinking block is its signature.',
  },
  {
    ...{ id: 'stop-reason', on: 'stream', level: 'must', source: STREAMING },
    says: 'message_delta has the stop_reason.',
  },
  {
    ...{ id: 'stop-fits-calls', on: 'stream', level: 'must', source: CREATE },
    says: 'An answer that stops with tool_use calls a tool, and one that ends its turn calls none.',
  },
  {
    ...{ id: 'usage', on: 'stream', level: 'must', source: STREAMING },
    says: 'message_start and message_delta have usage; output_tokens never decreases.',
  },
  {
    ...{ id: 'stop-last', on: 'stream', level: 'must', source: STREAMING },
    says: 'message_stop is the last event and occurs once.',
  },
  {
    ...{ id: 'error-event', on: 'stream', level: 'must', source: ERRORS },
    says: 'An error is an event of the name error, with an error that has a known type and a message.',
  },
  {
    ...{ id: 'error-type', on: 'error', level: 'must', source: ERRORS },
    says: 'The body has the type error and an error with a type and a message.',
  },
  {
    ...{ id: 'error-type-fits', on: 'error', level: 'must', source: 'docs/wire/errors.md#anthropic-types' },
    says: 'The type of the error is that of its status; clients decide by it whether to retry.',
  },
]
