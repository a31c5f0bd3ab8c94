import { Sequential } from '../../canonical/sequential.ts'
import { writeError } from '../errors/openai-error.ts'
import type { Writer } from '../writer.ts'
import { CompletionChunks } from './events.ts'
import { RelayedCompletion } from './relayed-stream.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** The writers of text completions (docs/wire/completions.md). */
export const completions: Writer = {
  request: writeRequest,
  result: writeResult,
  events: request => new Sequential(new CompletionChunks(request), { writesUnfinished: true }),
  nativeEvents: request => new RelayedCompletion(new CompletionChunks(request)),
  error: writeError,
}
