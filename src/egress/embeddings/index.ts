import { writeError } from '../errors/openai-error.ts'
import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** The writer for OpenAI's embeddings format (docs/wire/embeddings.md). */
export const embeddings: Writer = { request: writeRequest, result: writeResult, error: writeError }
