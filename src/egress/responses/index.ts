import { Sequential } from '../../canonical/sequential.ts'
import { fetchesUrls } from '../media/fetched-urls.ts'
import type { Writer } from '../writer.ts'
import { writeCompacted } from './compaction.ts'
import { writeError } from './error.ts'
import { ResponsesStream, writeRefused } from './events.ts'
import { reasoningForHistory } from './items.ts'
import { writeRequest } from './request.ts'
import { isNativeAnswer } from './response.ts'
import { writeResult } from './result.ts'

/** The writers of responses (docs/wire/responses.md). */
export const responses: Writer = {
  request: writeRequest,
  result: writeResult,
  events: request => new Sequential(new ResponsesStream(request), { isExemptAnswer: isNativeAnswer }),
  reasoningForHistory,
  mustFetch: (_, dialect) => fetchesUrls(dialect),
  mustFetchNative: fetchesUrls,
  error: writeError,
  errorAsStream: writeRefused,
  compacted: writeCompacted,
  completionTime: true,
}
