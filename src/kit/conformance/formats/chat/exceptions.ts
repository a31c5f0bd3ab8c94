import type { SchemaException } from '../../schema.ts'

/* Deviations of real services from the published schema of chat completions. */

export const exceptions: readonly SchemaException[] = [
  {
    schema: /^CreateChatCompletionStreamResponse$/,
    fault:
      /^\/choices\/#\/delta\/tool_calls\/#\/type must be equal to one of the allowed values \{"allowedValues":\["function"\]\}$/,
    why: 'The description knows free-form calls in whole answers alone; a stream has them, too.',
  },
  {
    schema: /^CreateChatCompletion(Stream)?Response$/,
    fault: /^\/system_fingerprint must be string|^\/choices\/# must have required property 'logprobs'/,
    why: 'OpenAI answers with a null fingerprint, and leaves logprobs out where none were requested.',
  },
]
