import { isObject, type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { ChatDialect } from '../../formats/dialects/chat.ts'
import { hasFunctionsOnly } from '../functions-only.ts'
import { withFields } from '../native.ts'
import { isKimiTool } from '../sanitize/kimi-schema.ts'
import { SUBSETS } from '../sanitize/schema-subsets.ts'
import { FORMAT, type WriteContext } from './content.ts'
import { forcesWhileThinking } from './forced-tools.ts'
import { hasFunctionsWhileThinking } from './functions-alone.ts'
import { hasTurnsInARow } from './joined-turns.ts'
import { hasUnknownFields } from './known-fields.ts'
import { isOfModel } from './messages.ts'
import { hasOddArguments } from './odd-arguments.ts'
import { hasRefusedChoice } from './tool-modes.ts'

/*
 * Clients of chat completions that are set up for OpenAI reach other vendors through a gateway, whose upstreams refuse
 * or ignore some of OpenAI's fields ("unknown variant `developer`", "invalid type: sequence, expected a string").
 */

/**
 * Returns true if the upstream takes the request as it came. Any other request is written anew, by the dialect's rules.
 *
 * @param body the body from which the request was read.
 */
export const isAccepted = (request: CanonicalRequest, body: JsonObject, dialect: ChatDialect): boolean =>
  (dialect.custom_tools !== false || hasFunctionsOnly(request)) &&
  !REFUSALS.some(([isDeclared, isFound]) => isDeclared(dialect) && isFound(body, dialect))

type Refusal = readonly [
  isDeclared: (dialect: ChatDialect) => boolean,
  isFound: (body: JsonObject, dialect: ChatDialect) => boolean,
]

/** Features that a dialect can declare as refused, each with the check that finds it in a body. */
const REFUSALS: readonly Refusal[] = [
  [dialect => dialect.developer_role === false, body => itemsOf(body['messages']).some(isOfDeveloper)],
  [dialect => dialect.system_turns === false, body => itemsOf(body['messages']).slice(1).some(isInstruction)],
  [dialect => dialect.after_tools === 'assistant', body => itemsOf(body['messages']).some(isLateInstruction)],
  [
    ({ tool_choices = 'all' }) => tool_choices !== 'all',
    (body, dialect) => hasRefusedChoice(body['tool_choice'], dialect),
  ],
  [dialect => dialect.joined_turns === true, body => hasTurnsInARow(itemsOf(body['messages']))],
  [dialect => dialect.text_only_content === 'string', body => itemsOf(body['messages']).some(isListOfTexts)],
  [dialect => dialect.strict_tools === false, body => itemsOf(body['tools']).some(isStrict)],
  [dialect => dialect.result_media === false, body => itemsOf(body['messages']).some(isResultWithMedia)],
  [({ schemas = 'any' }) => schemas !== 'any', hasRefusedFunction],
  [dialect => dialect.json_schema === false, body => hasValue(body['response_format'], 'type', 'json_schema')],
  [dialect => dialect.json_object === false, body => hasValue(body['response_format'], 'type', 'json_object')],
  [dialect => dialect.json_with_tools === false, asksForJsonWithTools],
  [dialect => dialect.odd_arguments === false, hasOddArguments],
  [dialect => dialect.empty_calls === false, body => itemsOf(body['messages']).some(hasEmptyCalls)],
  [dialect => dialect.request_fields === 'mistral', hasUnknownFields],
  [dialect => dialect.request_fields === 'fireworks', body => itemsOf(body['messages']).some(isLegacy)],
  [dialect => dialect.forced_while_thinking === false, forcesWhileThinking],
  [dialect => dialect.functions_while_thinking === false, hasFunctionsWhileThinking],
]

const itemsOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

const hasValue = (value: Json | undefined, field: string, expected: string | boolean): boolean =>
  isObject(value) && value[field] === expected

function asksForJsonWithTools({ tools, response_format: shape }: JsonObject): boolean {
  return itemsOf(tools).length > 0 && isObject(shape) && shape['type'] !== 'text'
}

const isOfDeveloper = (message: Json): boolean => hasValue(message, 'role', 'developer')

const isStrict = (tool: Json): boolean => isObject(tool) && hasValue(tool['function'], 'strict', true)

const isInstruction = (message: Json): boolean => hasValue(message, 'role', 'system') || isOfDeveloper(message)

/** Returns true for an instruction directly behind a message of the model or of a tool. */
const isLateInstruction = (message: Json, index: number, messages: readonly Json[]): boolean =>
  index > 0 && isInstruction(message) && isOfModel(messages[index - 1] as JsonObject | undefined)

/** Returns true if the upstream refuses a function for its schema, or Kimi for its name. */
function hasRefusedFunction({ tools }: JsonObject, { schemas = 'any' }: ChatDialect): boolean {
  const isTaken = ({ name, parameters }: JsonObject): boolean =>
    schemas === 'kimi'
      ? isKimiTool(stringIn(name), parameters)
      : !isObject(parameters) || SUBSETS[schemas](parameters) === parameters
  const functions = itemsOf(tools).map(tool => (isObject(tool) ? tool['function'] : undefined))
  return functions.some(one => isObject(one) && !isTaken(one))
}

/** Returns true if the content of a message is a list that could be one string. Lists with media cannot. */
const isListOfTexts = (message: Json): boolean =>
  isObject(message) &&
  Array.isArray(message['content']) &&
  itemsOf(message['content']).every(part => hasValue(part, 'type', 'text'))

/** Returns true for a deprecated call or its result, whose fields a closed schema of messages does not have. */
const isLegacy = (message: Json): boolean =>
  hasValue(message, 'role', 'function') || (isObject(message) && isObject(message['function_call']))

/** Returns true for a turn of the model with an empty list of calls. */
const hasEmptyCalls = (message: Json): boolean =>
  isObject(message) && Array.isArray(message['tool_calls']) && message['tool_calls'].length === 0

/** Returns true for the result of a tool with an image, a sound or a file. */
const isResultWithMedia = (message: Json): boolean =>
  hasValue(message, 'role', 'tool') &&
  itemsOf((message as JsonObject)['content']).some(part => !hasValue(part, 'type', 'text'))

/**
 * Gives the output limit the upstream's name for it, leaves out `store` where the upstream has none, and writes
 * Mistral's `any` as `required` for every other upstream (docs/wire/chat.md#tool-choice).
 */
export function withAcceptedFields(body: JsonObject, { dialect, losses }: WriteContext): JsonObject {
  const { max_completion_tokens: limit, max_tokens: otherLimit, store, tool_choice: choice } = body
  const isRenamed = dialect.limit_field === 'max_tokens' && limit != null && otherLimit == null
  const isOutdated = dialect.old_limit === false && otherLimit != null
  const isUnstored = dialect.store === false && store != null
  // Only Mistral demands short ids of calls.
  const isMistrals = choice === 'any' && dialect.call_ids !== 'short'
  if (isOutdated && limit != null) losses.drop(['extras', FORMAT, 'max_tokens'], 'another-limit')
  // An upstream that stores nothing fulfils `store: false`.
  if (isUnstored && store !== false) losses.drop(['state', 'store'], 'no-storage')
  const changes = {
    ...(isRenamed ? { max_tokens: limit } : {}),
    ...(isOutdated ? { max_completion_tokens: limit ?? otherLimit, max_tokens: undefined } : {}),
    ...(isMistrals ? { tool_choice: 'required' } : {}),
  }
  return withFields(body, changes, [...(isRenamed ? ['max_completion_tokens'] : []), ...(isUnstored ? ['store'] : [])])
}
