import type { SchemaException } from '../../schema.ts'

/* Where the published schema of generateContent says less than the real service does. */

export const exceptions: readonly SchemaException[] = []
