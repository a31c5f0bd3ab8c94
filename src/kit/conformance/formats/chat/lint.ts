import { isObject, type Json, type JsonObject, listOf, numberOf, objectOf, parseJson, textOf } from '../../json.ts'
import { type Violation, Violations } from '../../rules.ts'
import { areIndexes } from '../indexes.ts'

/* Rules for requests, whole answers and errors that the published schema cannot express. */

const callsOf = (message: Json): JsonObject[] => listOf(objectOf(message)['tool_calls']).map(objectOf)

function argumentFaults(calls: readonly JsonObject[], violations: Violations, isCut: boolean): void {
  for (const [index, call] of calls.entries()) {
    if (call['type'] === 'custom') continue
    const args = objectOf(call['function'])['arguments']
    if (typeof args !== 'string') violations.add('arguments-are-text', `Arguments of call ${index} are not a string.`)
    else if (args !== '' && !isCut && parseJson(args) === undefined)
      violations.add('arguments-are-text', `Arguments of call ${index} are not JSON: ${args.slice(0, 100)}`)
  }
}

/** Checks that every tool message in a history follows its call. */
export function requestLint(body: JsonObject): readonly Violation[] {
  const violations = new Violations()
  let open = new Set<string>()
  for (const [index, message] of listOf(body['messages']).entries()) {
    const { role, tool_call_id: id } = objectOf(message)
    const calls = callsOf(message)
    argumentFaults(calls, violations, false)
    if (role === 'tool') {
      if (typeof id !== 'string' || !open.delete(id))
        violations.add('tool-results-paired', `Message ${index} answers ${JSON.stringify(id)}, which was not called.`)
      continue
    }
    if (open.size > 0)
      violations.add('tool-results-paired', `Message ${index} comes before the results of ${[...open].join(', ')}.`)
    open = new Set(calls.flatMap(call => textOf(call['id']) ?? []))
  }
  return violations.list
}

/** Describes the fault of `total_tokens`, if it has one. */
export function totalFault(usage: JsonObject): string | undefined {
  const [input, output, total] = ['prompt_tokens', 'completion_tokens', 'total_tokens'].map(one => numberOf(usage[one]))
  if (total === undefined || (input ?? 0) + (output ?? 0) === total) return undefined
  return `total_tokens is ${total} instead of ${input} + ${output}.`
}

export function answerLint(body: JsonObject): readonly Violation[] {
  const violations = new Violations()
  const indexes = listOf(body['choices']).map(choice => objectOf(choice)['index'])
  if (!areIndexes(indexes))
    violations.add('choice-index', `The choices have the indexes ${JSON.stringify(indexes).slice(0, 200)}.`)
  for (const value of listOf(body['choices'])) {
    const choice = objectOf(value)
    const calls = callsOf(choice['message'] ?? null)
    argumentFaults(calls, violations, choice['finish_reason'] === 'length')
    const ids = calls.map(call => textOf(call['id']) || undefined)
    if (ids.includes(undefined) || new Set(ids).size < ids.length)
      violations.add('call-has-id', `The ids of the calls are ${JSON.stringify(ids)}`)
    if (calls.length > 0 && choice['finish_reason'] === 'stop')
      violations.add('finish-fits-calls', 'The answer calls tools and finishes with stop.')
  }
  const fault = totalFault(objectOf(body['usage']))
  if (fault !== undefined) violations.add('usage-adds-up', fault)
  return violations.list
}

export function errorLint(_status: number, body: Json | undefined): readonly Violation[] {
  const violations = new Violations()
  const error = objectOf(body)['error']
  if (!isObject(error)) violations.add('error-type', 'The body has no error object.')
  else if (typeof error['message'] !== 'string') violations.add('error-type', 'The error has no message.')
  else if (error['type'] !== null && typeof error['type'] !== 'string')
    violations.add('error-type', 'The error has no type.')
  return violations.list
}
