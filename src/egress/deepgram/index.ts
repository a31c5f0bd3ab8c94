import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'

/** Deepgram as an upstream: transcriptions. */
export const deepgram: Writer = { request: writeRequest, bytes: true, fetches: () => true }
