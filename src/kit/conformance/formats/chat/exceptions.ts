import type { SchemaException } from '../../schema.ts'

/* Where the published schema of chat completions says less than real services do. */

export const exceptions: readonly SchemaException[] = []
