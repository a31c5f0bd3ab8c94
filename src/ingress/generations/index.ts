import type { Reader } from '../reader.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'

/** Requests for videos in one JSON object, SERVICE.md "Video"; for callers alone. */
export const generations: Reader = { request: readRequest, fields: BODY_FIELDS, locate }
