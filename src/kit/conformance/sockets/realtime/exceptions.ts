import type { SchemaException } from '../../schema.ts'

/* Deviations of OpenAI's own service from the published schema of its sessions. */

const SERVER = /^RealtimeServerEvent$/

export const exceptions: readonly SchemaException[] = [
  {
    schema: SERVER,
    fault:
      /^\/session\/(audio\/input\/(transcription|transcription\/(language|prompt)|noise_reduction)|include) must be (object|array|string)/,
    why: 'Settings that were not made are null in the session that comes back.',
  },
  {
    schema: SERVER,
    fault: /^\/response\/(status_details|usage) must be object/,
    why: 'Both are null until the response has ended, and status_details also after it.',
  },
  {
    schema: SERVER,
    fault: /^ must have required property 'usage'/,
    why: 'xAI, and gateways to services that do not count transcripts, send transcripts without usage.',
  },
  {
    schema: SERVER,
    fault: /^\/item\/(content\/#\/transcript must be string|(role|content\/#\/type) must be equal)/,
    why: 'The transcript of what a user said is null until it is known, and then no kind of item fits.',
  },
]
