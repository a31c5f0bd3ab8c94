import { Sequential } from '../../canonical/sequential.ts'
import { fetchesUrls, isInsecure } from '../media/fetched-urls.ts'
import type { Writer } from '../writer.ts'
import { pauses } from './continued.ts'
import { writeError } from './error.ts'
import { MessageStream } from './events.ts'
import { RelayedStream } from './native.ts'
import { addRateLimits } from './rate-limits.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'
import { boundSignatures, reasoningForHistory } from './thinking.ts'

/** The writers of messages (docs/wire/messages.md). */
export const messages: Writer = {
  request: writeRequest,
  result: writeResult,
  events: request => new Sequential(new MessageStream(request)),
  pauses,
  nativeEvents: request => new RelayedStream(new MessageStream(request)),
  reasoningForHistory,
  boundSignatures,
  mustFetch: (part, dialect) => fetchesUrls(dialect) || isInsecure(part),
  mustFetchNative: fetchesUrls,
  error: writeError,
  addRateLimits,
}
