import type { Reader } from '../reader.ts'
import { locate, readRequest } from './request.ts'

/** Requests for videos in one JSON object, SERVICE.md "Video"; for callers alone. */
export const generations: Reader = { request: readRequest, locate }
