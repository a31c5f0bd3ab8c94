import type { SchemaException } from '../../schema.ts'

/* Where the published schema of chat completions says less than real services do. */

export const exceptions: readonly SchemaException[] = [
  {
    schema: /^CreateChatCompletion(Stream)?Response$/,
    fault: /^\/system_fingerprint must be string|^\/choices\/# must have required property 'logprobs'/,
    why: 'OpenAI answers with a null fingerprint, and leaves logprobs out where none were requested.',
  },
]
