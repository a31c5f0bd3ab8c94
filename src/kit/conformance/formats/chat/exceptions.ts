import type { SchemaException } from '../../schema.ts'

/* Deviations of real services from the published schema of chat completions. */

export const exceptions: readonly SchemaException[] = [
  {
    schema: /^CreateChatCompletionStreamResponse$/,
    fault:
      /^\/choices\/#\/delta\/tool_calls\/#\/type must be equal to one of the allowed values \{"allowedValues":\["function"\]\}$/,
    why: 'The description defines free-form calls only for whole answers, but streams have them as well.',
  },
  {
    schema: /^CreateChatCompletion(Stream)?Response$/,
    fault: /^\/system_fingerprint must be string|^\/choices\/# must have required property 'logprobs'/,
    why: 'OpenAI sends a null fingerprint and omits logprobs unless they were requested.',
  },
]
