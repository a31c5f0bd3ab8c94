import type { CanonicalRequest } from '../../canonical/request.ts'
import { Sequential } from '../../canonical/sequential.ts'
import { writeError } from '../errors/openai-error.ts'
import { spellingFor } from '../fields.ts'
import { fetchesUrls } from '../media/fetched-urls.ts'
import { transcriptionByChat } from '../media/transcription-by-chat.ts'
import type { EventWriter, Writer } from '../writer.ts'
import { FORMAT } from './content.ts'
import { ChatChunks } from './events.ts'
import { reasoningForHistory } from './native.ts'
import { RelayedChunks } from './relayed-stream.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'
import { UsageWithFinish } from './usage-with-finish.ts'
import { WholeCalls } from './whole-calls.ts'

/** Returns true if the caller's client reads the usage of each stream without asking for it. */
const readsUsageUnasked = (request: CanonicalRequest): boolean =>
  spellingFor(request, FORMAT)['usageWithFinish'] === true

function chunksOf(request: CanonicalRequest): EventWriter {
  const countsUnasked = readsUsageUnasked(request)
  const chunks = new Sequential(new ChatChunks(request, countsUnasked), { writesUnfinished: true })
  return countsUnasked ? new UsageWithFinish(chunks) : chunks
}

/** Returns true if the caller's client takes every piece of a streamed call for a whole one. */
const takesWholeCalls = (request: CanonicalRequest): boolean => spellingFor(request, FORMAT)['wholeCalls'] === true

/** The writers of chat completions (docs/wire/chat.md). */
export const chat: Writer = {
  request: transcriptionByChat(writeRequest, { times: false }),
  result: writeResult,
  events: request => (takesWholeCalls(request) ? new WholeCalls(chunksOf(request)) : chunksOf(request)),
  nativeEvents: request =>
    takesWholeCalls(request) ? new WholeCalls(chunksOf(request)) : new RelayedChunks(new ChatChunks(request)),
  reasoningForHistory,
  mustFetch: ({ kind }, { document_url, fetch_urls }) =>
    fetch_urls === true || (kind === 'file' && document_url !== true) || kind === 'audio',
  mustFetchNative: fetchesUrls,
  error: writeError,
}
