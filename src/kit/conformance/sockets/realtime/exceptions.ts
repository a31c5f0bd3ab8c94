import type { SchemaException } from '../../schema.ts'

/* Deviations of OpenAI's own service from the published schema of its sessions. */

const SERVER = /^RealtimeServerEvent$/

export const exceptions: readonly SchemaException[] = [
  {
    schema: SERVER,
    fault:
      /^\/session\/(audio\/input\/(transcription|transcription\/(language|prompt)|noise_reduction)|include) must be (object|array|string)/,
    why: 'In the returned session, settings that were not given are null.',
  },
  {
    schema: SERVER,
    fault: /^\/response\/(status_details|usage) must be object/,
    why: 'Both are null until the response has ended. status_details may stay null.',
  },
  {
    schema: SERVER,
    fault: /^ must have required property 'usage'/,
    why: 'xAI sends transcripts without usage. So do gateways to services that do not count the tokens of transcripts.',
  },
  {
    schema: SERVER,
    fault: /^\/item\/(content\/#\/transcript must be string|(role|content\/#\/type) must be equal)/,
    why: 'The transcript of a user’s speech is null until it is known, and no kind of item in the schema allows null.',
  },
]
