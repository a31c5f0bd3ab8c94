import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { locate, readRequest } from './request.ts'
import { readResult } from './result.ts'

/** Kling's videos, made of a text or of a picture. */
export const kling: Reader = { request: readRequest, locate, result: readResult, error: readError }
