import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'
import { readResult } from './result.ts'

/** The reader of Kling's video generation from text or images. */
export const kling: Reader = { request: readRequest, fields: BODY_FIELDS, locate, result: readResult, error: readError }
