import { isObject, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { type Violation, Violations } from '../../rules.ts'
import { areIndexes } from '../indexes.ts'
import { checkPart } from './parts.ts'
import { subsetFaults } from './schema-subset.ts'
import { totalFault } from './usage.ts'

/* Rules for requests, whole answers and errors that the published schema cannot express. */

const partsOf = (content: Json | undefined): JsonObject[] => listOf(objectOf(content)['parts']).map(objectOf)

/** Returns the names of the calls or responses in a content. */
const namesOf = (parts: readonly JsonObject[], kind: string): string[] =>
  parts.filter(part => isObject(part[kind])).map(part => textOf(objectOf(part[kind])['name']) ?? '')

/** Returns the turns of a history. Consecutive contents of one role are one turn. */
function turnsOf(contents: readonly Json[]): JsonObject[][] {
  const turns: JsonObject[][] = []
  let last: string | undefined
  for (const content of contents) {
    const side = objectOf(content)['role'] === 'model' ? 'model' : 'user'
    if (side !== last) turns.push([])
    last = side
    for (const part of partsOf(content)) turns.at(-1)!.push(part)
  }
  return turns
}

function toolFaults(body: JsonObject, violations: Violations): void {
  for (const tool of listOf(body['tools']).map(objectOf))
    for (const declared of listOf(tool['functionDeclarations']).map(objectOf)) {
      const { name, parameters, parametersJsonSchema } = declared
      if (!/^[A-Za-z_]/.test(textOf(name) ?? ''))
        violations.add('function-name', `A function is named ${JSON.stringify(name)}.`)
      if (parameters !== undefined && parametersJsonSchema !== undefined)
        violations.add('one-schema', `${String(name)} has parameters and parametersJsonSchema.`)
      for (const fault of subsetFaults(parameters)) violations.add('schema-subset', `${String(name)}: ${fault}`)
    }
  const { responseMimeType, responseSchema, responseJsonSchema } = objectOf(body['generationConfig'])
  if (responseSchema !== undefined && responseJsonSchema !== undefined)
    violations.add('one-schema', 'generationConfig has responseSchema and responseJsonSchema.')
  if (
    responseMimeType !== 'application/json' &&
    responseMimeType !== 'text/x.enum' &&
    (responseSchema !== undefined || responseJsonSchema !== undefined)
  )
    violations.add(
      'schema-needs-type',
      `generationConfig has a schema, and responseMimeType is ${JSON.stringify(responseMimeType)}.`,
    )
  for (const fault of subsetFaults(responseSchema)) violations.add('schema-subset', `responseSchema: ${fault}`)
}

/** Roles of contents. Older clients send `function` with responses. */
const ROLES: ReadonlySet<Json> = new Set(['user', 'model', 'function'])

/** Checks that the responses in a history match the calls of the previous turn. */
export function requestLint(body: JsonObject): readonly Violation[] {
  const violations = new Violations()
  const contents = listOf(body['contents'])
  if (contents.length === 0) violations.add('contents-present', 'The request has no contents.')
  for (const [index, content] of contents.entries()) {
    if (partsOf(content).length === 0) violations.add('contents-present', `Content ${index} has no parts.`)
    const { role } = objectOf(content)
    if (role !== undefined && !ROLES.has(role))
      violations.add('role', `Content ${index} has the role ${JSON.stringify(role)}.`)
  }
  let open: readonly string[] = []
  for (const [index, parts] of turnsOf(contents).entries()) {
    for (const part of parts) checkPart(part, `A part of turn ${index}`, violations)
    for (const part of parts) responseFaults(part, index, violations)
    // Calls that Google ran itself are answered within the model's turn. Calls may stay unanswered.
    const callNames = namesOf(parts, 'functionCall')
    const names = callNames.length > 0 ? [] : namesOf(parts, 'functionResponse')
    if (names.length > 0 && [...names].sort().join() !== [...open].sort().join())
      violations.add(
        'responses-paired',
        `Turn ${index} answers [${names.join(', ')}], the calls were [${open.join(', ')}].`,
      )
    open = callNames
  }
  toolFaults(body, violations)
  return violations.list
}

function responseFaults({ functionResponse }: JsonObject, turn: number, violations: Violations): void {
  if (!isObject(functionResponse)) return
  const { name, response } = functionResponse
  if (!textOf(name)) violations.add('response-is-object', `A response of turn ${turn} has no name.`)
  if (!isObject(response)) violations.add('response-is-object', `A response of turn ${turn} is not an object.`)
}

export function answerLint(body: JsonObject): readonly Violation[] {
  const violations = new Violations()
  const candidates = listOf(body['candidates']).map(objectOf)
  if (candidates.length === 0 && objectOf(body['promptFeedback'])['blockReason'] === undefined)
    violations.add('finish-present', 'The answer has no candidate and no promptFeedback.')
  const indexes = candidates.map(({ index }, position) => numberOf(index) ?? position)
  if (!areIndexes(indexes)) violations.add('candidate-index', `The candidates have the indexes ${indexes.join(', ')}.`)
  for (const [position, { index, content, finishReason }] of candidates.entries()) {
    const label = `Candidate ${numberOf(index) ?? position}`
    if (typeof finishReason !== 'string') violations.add('finish-present', `${label} has no finishReason.`)
    const role = objectOf(content)['role']
    if (role !== undefined && role !== 'model') violations.add('role', `${label} has the role ${String(role)}.`)
    for (const part of partsOf(content)) checkPart(part, `A part of ${label}`, violations)
  }
  const fault = totalFault(objectOf(body['usageMetadata']))
  if (fault !== undefined) violations.add('usage-adds-up', fault)
  return violations.list
}

/** Names of statuses (https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto). */
const STATUS_NAMES: { readonly [status: number]: readonly string[] } = {
  400: ['INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'OUT_OF_RANGE'],
  401: ['UNAUTHENTICATED'],
  403: ['PERMISSION_DENIED'],
  404: ['NOT_FOUND'],
  409: ['ABORTED', 'ALREADY_EXISTS'],
  429: ['RESOURCE_EXHAUSTED'],
  499: ['CANCELLED'],
  500: ['INTERNAL', 'UNKNOWN', 'DATA_LOSS'],
  501: ['UNIMPLEMENTED'],
  503: ['UNAVAILABLE'],
  504: ['DEADLINE_EXCEEDED'],
}

/** Returns false if the name of a status is known to belong to another HTTP status. */
export const isStatusOf = (status: number, name: string): boolean => STATUS_NAMES[status]?.includes(name) ?? true

export function errorLint(status: number, body: Json | undefined): readonly Violation[] {
  const violations = new Violations()
  const error = objectOf(body)['error']
  if (!isObject(error)) violations.add('error-status', 'The body has no error object.')
  else {
    const { code, message, status: name } = error
    if (typeof message !== 'string') violations.add('error-status', 'The error has no message.')
    if (typeof name !== 'string') violations.add('error-status', 'The error has no status.')
    if (code !== status)
      violations.add('error-status', `The code is ${JSON.stringify(code)}, but the HTTP status is ${status}.`)
    if (typeof name === 'string' && !isStatusOf(status, name))
      violations.add('status-fits', `The status ${name} does not belong to ${status}.`)
  }
  return violations.list
}
