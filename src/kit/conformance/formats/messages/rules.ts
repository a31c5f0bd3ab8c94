import type { Rule } from '../../rules.ts'

/* Rules of messages. */

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
    says: 'A request of 2026-10-21 has no sampling settings, documents of the assistant or citations of the user.',
  },
  {
    ...{ id: 'version-key', on: 'request', level: 'should', source: SDK },
    says: 'A request of 2026-10-21 has its key as a Bearer token, as the publisher’s clients of that version send it.',
  },
  {
    ...{ id: 'tool-results-paired', on: 'request', level: 'must', source: TOOLS },
    says: 'The user turn after a tool_use has a tool_result for every call, and no other.',
  },
  {
    ...{ id: 'user-first', on: 'request', level: 'must', source: CREATE },
    says: 'The first turn is the user’s.',
  },
  {
    ...{ id: 'no-empty-text', on: 'request', level: 'must', source: CREATE },
    says: 'Text blocks are not empty.',
  },
  {
    ...{ id: 'signed-reasoning', on: 'request', level: 'must', source: `${STREAMING}#thinking-delta` },
    says: 'Every thinking block of a history has its signature.',
  },
  {
    ...{ id: 'call-has-id', on: 'answer', level: 'must', source: CREATE },
    says: 'Every call has an id of its own, and its input is an object.',
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
    says: 'message_start comes first, and once; its message has no content and no stop_reason.',
  },
  {
    ...{ id: 'block-index', on: 'stream', level: 'must', source: STREAMING },
    says: 'Blocks begin with index 0, rise by one and do not overlap.',
  },
  {
    ...{ id: 'block-stops', on: 'stream', level: 'must', source: STREAMING },
    says: 'Every block that began stops before the next one and before message_delta.',
  },
  {
    ...{ id: 'delta-fits-block', on: 'stream', level: 'must', source: STREAMING },
    says: 'A delta is of the kind of its block: text_delta of text, thinking_delta of thinking.',
  },
  {
    ...{ id: 'input-json', on: 'stream', level: 'must', source: STREAMING },
    says: 'The input_json_delta pieces of a call add up to a JSON object.',
  },
  {
    ...{ id: 'call-has-id', on: 'stream', level: 'must', source: STREAMING },
    says: 'A tool_use block begins with its id and its name.',
  },
  {
    ...{ id: 'signature-last', on: 'stream', level: 'should', source: STREAMING },
    says: 'A thinking block has its signature as its last delta.',
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
    says: 'message_start and message_delta have usage; output_tokens do not fall.',
  },
  {
    ...{ id: 'stop-last', on: 'stream', level: 'must', source: STREAMING },
    says: 'message_stop is the last event, and comes once.',
  },
  {
    ...{ id: 'error-type', on: 'error', level: 'must', source: ERRORS },
    says: 'The body has the type error and an error with a type and a message.',
  },
]
