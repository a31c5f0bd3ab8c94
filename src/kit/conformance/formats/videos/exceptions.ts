import type { SchemaException } from '../../schema.ts'

/* Deviations of OpenAI's own service from the published schema of videos. */

export const exceptions: readonly SchemaException[] = [
  {
    schema: /^Video(List)?Resource$/,
    fault: /required property '(completed_at|expires_at|prompt|remixed_from_video_id|error)'/,
    why: 'The examples of the description leave out what a video does not have, instead of null.',
  },
]
