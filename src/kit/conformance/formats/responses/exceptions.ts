import type { SchemaException } from '../../schema.ts'

/* Deviations of OpenAI's own service from the published schema of responses. */

const ANSWERS = /^Response$|^ResponseStreamEvent$/

export const exceptions: readonly SchemaException[] = [
  {
    schema: /^CreateResponse$/,
    fault: /^\/input\/# must have required property 'id'/,
    why: 'Codex returns encrypted reasoning without its id, because a service that stores nothing does not know the id.',
  },
  {
    schema: ANSWERS,
    fault: /^(\/response)?\/(user|usage) must be (string|object)/,
    why: 'OpenAI sends a null user, and null usage until the end.',
  },
  {
    schema: ANSWERS,
    fault: /input_tokens_details must have required property 'cache_write_tokens'/,
    why: 'Older OpenAI models do not count tokens written to the cache.',
  },
  {
    schema: ANSWERS,
    fault: /\/(content\/#|part) must have required property 'logprobs'/,
    why: 'Some recorded texts have no logprobs because none were requested.',
  },
  {
    schema: ANSWERS,
    fault: /\/tools\/#\/server_description must be string/,
    why: 'OpenAI returns null for an MCP server without a description.',
  },
  {
    schema: ANSWERS,
    fault: /^(\/response)?\/error\/code must be equal to one of the allowed values/,
    why: 'Failed responses have codes outside the list, such as context_length_exceeded and server_is_overloaded.',
  },
  {
    schema: /^ResponseStreamEvent$/,
    fault: /^ must have required property 'name'|^\/item must have required property 'action'/,
    why: 'In recorded streams, the done events of arguments have no name, and a hosted search begins without its action.',
  },
]
