import type { SchemaException } from '../../schema.ts'

/* Deviations of OpenAI's own service from the published schema of responses. */

const ANSWERS = /^Response$|^ResponseStreamEvent$/

export const exceptions: readonly SchemaException[] = [
  {
    schema: ANSWERS,
    fault: /^(\/response)?\/(user|usage) must be (string|object)/,
    why: 'OpenAI answers with a null user, and with null usage until the end.',
  },
  {
    schema: ANSWERS,
    fault: /input_tokens_details must have required property 'cache_write_tokens'/,
    why: 'Answers of OpenAI’s older models do not count written tokens.',
  },
  {
    schema: ANSWERS,
    fault: /\/(content\/#|part) must have required property 'logprobs'/,
    why: 'Some recorded texts have no logprobs where none were requested.',
  },
  {
    schema: ANSWERS,
    fault: /\/tools\/#\/server_description must be string/,
    why: 'OpenAI repeats an absent description of an MCP server as null.',
  },
  {
    schema: /^ResponseStreamEvent$/,
    fault: /^ must have required property 'name'|^\/item must have required property 'action'/,
    why: 'Recorded ends of arguments have no name, and a hosted search begins without its action.',
  },
]
