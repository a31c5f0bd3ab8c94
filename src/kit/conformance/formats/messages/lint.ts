import type { Headers } from '../../format.ts'
import { isObject, type Json, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'
import { type Violation, Violations } from '../../rules.ts'
import { hasOlderKey, versionFaults } from './version.ts'

/* Rules for requests, whole answers and errors that the published schema cannot express. */

const blocksOf = (message: Json | undefined): JsonObject[] => listOf(objectOf(message)['content']).map(objectOf)

/** Returns the ids that blocks of one type have in a field. */
const idsOf = (blocks: readonly JsonObject[], type: string, field: string): string[] =>
  blocks.filter(block => block['type'] === type).flatMap(block => textOf(block[field]) ?? [])

function blockFaults(blocks: readonly JsonObject[], index: number, violations: Violations): void {
  for (const block of blocks) {
    if (block['type'] === 'text' && block['text'] === '')
      violations.add('no-empty-text', `Message ${index} has an empty text block.`)
    if (block['type'] === 'thinking' && !textOf(block['signature']))
      violations.add('signed-reasoning', `Message ${index} has a thinking block without a signature.`)
  }
}

/** Checks that calls in a history are followed by a turn with their results. */
export function requestLint(body: JsonObject, headers: Headers): readonly Violation[] {
  const violations = new Violations()
  const version = headers['anthropic-version'] ?? 'missing'
  if (!/^\d{4}-\d\d-\d\d$/.test(version))
    violations.add('version-header', `The header anthropic-version is ${JSON.stringify(version)}.`)
  for (const fault of versionFaults(body, headers)) violations.add('version-fields', fault)
  if (hasOlderKey(headers)) violations.add('version-key', 'The key is sent as x-api-key instead of as a Bearer token.')
  const messages = listOf(body['messages']).filter(message => objectOf(message)['role'] !== 'system')
  if (messages.length > 0 && objectOf(messages[0])['role'] !== 'user')
    violations.add('user-first', 'The first message is not from the user.')
  let open: readonly string[] = []
  for (const [index, message] of messages.entries()) {
    const blocks = blocksOf(message)
    blockFaults(blocks, index, violations)
    const results = idsOf(blocks, 'tool_result', 'tool_use_id')
    if ([...results].sort().join() !== [...open].sort().join())
      violations.add(
        'tool-results-paired',
        `Message ${index} answers [${results.join(', ')}], the calls were [${open.join(', ')}].`,
      )
    open = idsOf(blocks, 'tool_use', 'id')
  }
  return violations.list
}

export function answerLint(body: JsonObject): readonly Violation[] {
  const violations = new Violations()
  const calls = blocksOf(body).filter(block => block['type'] === 'tool_use')
  const ids = calls.map(call => textOf(call['id']) || undefined)
  if (ids.includes(undefined) || new Set(ids).size < ids.length)
    violations.add('call-has-id', `The ids of the calls are ${JSON.stringify(ids)}`)
  if (calls.some(call => !isObject(call['input'])))
    violations.add('call-has-id', 'The input of a call is not an object.')
  const searches = idsOf(blocksOf(body), 'server_tool_use', 'id')
  const found = idsOf(blocksOf(body), 'web_search_tool_result', 'tool_use_id')
  // After a pause, the call of a result may be in the answer before.
  if (searches.length > 0 && !found.every(id => searches.includes(id)))
    violations.add(
      'call-has-id',
      `The results are of [${found.join(', ')}], the searches were [${searches.join(', ')}].`,
    )
  const reason = body['stop_reason']
  if (typeof reason !== 'string') violations.add('stop-reason', `stop_reason is ${JSON.stringify(reason)}.`)
  if ((reason === 'tool_use' && calls.length === 0) || (reason === 'end_turn' && calls.length > 0))
    violations.add('stop-fits-calls', `The answer has ${calls.length} calls and stops with ${reason}.`)
  return violations.list
}

/** Types of errors by status. */
const ERROR_TYPES: { readonly [status: number]: string } = {
  ...{ 400: 'invalid_request_error', 401: 'authentication_error', 402: 'billing_error', 403: 'permission_error' },
  ...{ 404: 'not_found_error', 409: 'conflict_error', 413: 'request_too_large', 429: 'rate_limit_error' },
  ...{ 500: 'api_error', 504: 'timeout_error', 529: 'overloaded_error' },
}

/** Names of all types of errors. */
export const ERROR_TYPE_NAMES: ReadonlySet<Json> = new Set(Object.values(ERROR_TYPES))

export function errorLint(status: number, body: Json | undefined): readonly Violation[] {
  const { type, error } = objectOf(body)
  const violations = new Violations()
  if (type !== 'error') violations.add('error-type', `The type of the body is ${JSON.stringify(type)}.`)
  if (!isObject(error) || typeof error['type'] !== 'string' || typeof error['message'] !== 'string')
    violations.add('error-type', 'The body has no error with a type and a message.')
  const expected = ERROR_TYPES[status]
  const found = objectOf(error)['type']
  if (expected !== undefined && typeof found === 'string' && found !== expected)
    violations.add('error-type-fits', `The type is ${found}, but status ${status} has ${expected}.`)
  return violations.list
}
