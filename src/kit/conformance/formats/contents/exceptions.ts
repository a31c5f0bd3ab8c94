import type { SchemaException } from '../../schema.ts'

/* Deviations of the real service from the published schema of generateContent. */

export const exceptions: readonly SchemaException[] = []
