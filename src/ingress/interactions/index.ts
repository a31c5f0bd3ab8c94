import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { InteractionsEvents } from './events.ts'
import { BODY_FIELDS, locate } from './locate.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'
import { reasoningShown } from './settings.ts'

/** The reader of Google's Interactions API (docs/wire/interactions.md). */
export const interactions: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  locate,
  result: readResult,
  events: request => new InteractionsEvents(request),
  reasoningShown,
  error: readError,
}
