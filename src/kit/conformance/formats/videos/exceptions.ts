import type { SchemaException } from '../../schema.ts'

/* Deviations of OpenAI's own service from the published schema of videos. */

export const exceptions: readonly SchemaException[] = [
  {
    schema: /^Video(List)?Resource$/,
    fault: /required property '(completed_at|expires_at|prompt|remixed_from_video_id|error)'/,
    why: 'The description’s examples omit absent values instead of using null.',
  },
]
