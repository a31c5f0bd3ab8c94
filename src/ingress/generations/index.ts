import type { Reader } from '../reader.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'

/** The reader of the JSON video requests at `/v1/video/generations`, a format that only callers use. */
export const generations: Reader = { request: readRequest, fields: BODY_FIELDS, locate }
