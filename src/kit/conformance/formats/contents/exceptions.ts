import type { SchemaException } from '../../schema.ts'

/* Deviations of the real service from the published schema of generateContent. */

export const exceptions: readonly SchemaException[] = [
  {
    schema: /^GenerateContentResponse$/,
    fault: /^\/candidates\/#\/safetyRatings\/#\/category must be equal to one of the allowed values/,
    why: 'Google Cloud also rates categories that the schema lacks, such as HARM_CATEGORY_IMAGE_HATE.',
  },
]
