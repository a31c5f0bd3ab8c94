import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { ConverseEvents } from './events.ts'
import { BODY_FIELDS, locate } from './locate.ts'
import { readRequest } from './request.ts'
import { readCounted, readResult } from './result.ts'
import { rootOf, toolPaths } from './tools.ts'

/** The reader of Converse, the format of Amazon Bedrock (docs/wire/converse.md). */
export const converse: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  toolPaths,
  root: rootOf,
  locate,
  result: (answer, request) => (request.output.count === true ? readCounted(answer) : readResult(answer, request)),
  events: request => new ConverseEvents(request),
  error: readError,
}
