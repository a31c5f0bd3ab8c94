import { isObject, type JsonObject, textOf } from '../../json.ts'
import type { Violations } from '../../rules.ts'

/* Checks the parts of contents in requests, whole answers and streams. */

/** Kinds of data in a part. A part has exactly one. */
const DATA = [
  ...['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'],
  ...['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'],
] as const

/** Returns true if the part is a chunk of a call with streamed arguments. Only Google Cloud sends such chunks. */
export const isPiece = (call: JsonObject): boolean =>
  call['willContinue'] !== undefined || call['partialArgs'] !== undefined

/**
 * Reports parts without data or with several kinds of data, calls without a name, and arguments that are not an object.
 */
export function checkPart(part: JsonObject, where: string, violations: Violations): void {
  const kinds = DATA.filter(kind => part[kind] !== undefined)
  if (kinds.length !== 1)
    violations.add('one-kind-of-data', `${where} has ${kinds.length === 0 ? 'no data' : kinds.join(' and ')}.`)
  const call = part['functionCall']
  if (!isObject(call) || isPiece(call)) return
  if (!textOf(call['name'])) violations.add('call-has-name', `${where} is a call without a name.`)
  if (call['args'] !== undefined && !isObject(call['args']))
    violations.add('arguments-are-object', `${where} is a call whose args are ${JSON.stringify(call['args'])}.`)
}
