import type { SchemaException } from '../../schema.ts'

/* Deviations of OpenAI's own service from the published schema of transcriptions. */

export const exceptions: readonly SchemaException[] = [
  {
    schema: /^CreateTranscriptionResponseStreamEvent$/,
    fault: /^\/usage must have required property 'type'/,
    why: 'The usage in the description’s own stream example has no type.',
  },
]
