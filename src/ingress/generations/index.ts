import type { Reader } from '../reader.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'

/** The reader of JSON video requests at `/v1/video/generations`. This format is supported only for callers. */
export const generations: Reader = { request: readRequest, fields: BODY_FIELDS, locate }
