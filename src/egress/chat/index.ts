import { Sequential } from '../../canonical/sequential.ts'
import { writeError } from '../errors/openai-error.ts'
import { transcriptionByChat } from '../media/transcription-by-chat.ts'
import type { Writer } from '../writer.ts'
import { ChatChunks } from './events.ts'
import { reasoningForHistory } from './native.ts'
import { RelayedChunks } from './relayed-stream.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** The writers of chat completions (docs/wire/chat.md). */
export const chat: Writer = {
  request: transcriptionByChat(writeRequest, { times: false }),
  result: writeResult,
  events: request => new Sequential(new ChatChunks(request), { writesUnfinished: true }),
  nativeEvents: request => new RelayedChunks(new ChatChunks(request)),
  reasoningForHistory,
  mustFetch: ({ kind }, { document_url }) => (kind === 'file' && document_url !== true) || kind === 'audio',
  error: writeError,
}
