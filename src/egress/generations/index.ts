import type { Writer } from '../writer.ts'
import { writeError } from './error.ts'
import { writeResult } from './result.ts'

/** Video tasks in one JSON object, SERVICE.md "Video"; for callers alone. */
export const generations: Writer = { result: writeResult, error: writeError }
