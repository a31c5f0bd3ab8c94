import {
  hostedKind,
  type MediaFacts,
  mediaAt,
  type Part,
  type RawTurn,
  type RequestFacts,
  toolsByName,
  turnsOf,
} from '../../facts.ts'
import { booleanOf, compact, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { grammarOf, reasoningOf } from '../chat/request.ts'
import { CALLS, callFacts, RESULTS, reasoningFacts } from './items.ts'

/* Extracts the facts of a responses request. */

function mediaFacts(part: JsonObject): MediaFacts {
  const { image_url, file_data, file_url, filename } = part
  const address = textOf(image_url) ?? textOf(file_data) ?? textOf(file_url) ?? ''
  return compact({ ...mediaAt(address), name: textOf(filename) })
}

function partOf(value: Json): Part[] {
  const part = objectOf(value)
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
      return [{ kind: 'text', text: textOf(part['text']) ?? '' }]
    case 'refusal':
      return [{ kind: 'refusal', text: textOf(part['refusal']) ?? '' }]
    case 'input_image':
    case 'input_file':
      return [{ kind: 'media', media: mediaFacts(part) }]
    default:
      return []
  }
}

const partsOf = (content: Json | undefined): Part[] =>
  typeof content === 'string' ? [{ kind: 'text', text: content }] : listOf(content).flatMap(partOf)

const textsOf = (parts: readonly Part[]): string[] => parts.flatMap(part => (part.kind === 'text' ? part.text : []))

const isSystem = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer'

/** Converts an item into the turn it belongs to. Calls and reasoning belong to the assistant, results to the user. */
function turnOf(item: JsonObject): RawTurn {
  const { type, role, content, call_id } = item
  if (type === 'reasoning') {
    return { role: 'assistant', parts: [{ kind: 'reasoning', reasoning: reasoningFacts(item) }] }
  }
  if (CALLS.has(String(type))) return { role: 'assistant', parts: [{ kind: 'call', call: callFacts(item) }] }
  if (RESULTS.has(String(type))) {
    const parts = partsOf(item['output'])
    const media = parts.flatMap(part => (part.kind === 'media' ? [part.media] : []))
    const result = compact({ text: textsOf(parts).join(''), media })
    const callId = textOf(call_id)
    return { role: 'user', parts: [{ kind: 'result', result, ...(callId === undefined ? {} : { callId }) }] }
  }
  const side = isSystem(item) ? 'system' : role === 'assistant' ? 'assistant' : 'user'
  return { role: side, parts: partsOf(content) }
}

/** Kinds of tools without a schema that the caller runs. */
const KINDS: { readonly [type: string]: string } = { custom: 'free-form' }

function toolsOf(body: JsonObject): RequestFacts['tools'] {
  const tools = listOf(body['tools']).map(value => {
    const { type, name, description, parameters, strict, format, defer_loading: deferred } = objectOf(value)
    const kind = KINDS[String(type)] ?? (type === 'function' ? undefined : hostedKind(String(type)))
    const facts = compact({
      description: textOf(description),
      parameters: parameters ?? undefined,
      strict: booleanOf(strict) || undefined,
      kind,
      grammar: grammarOf(objectOf(format)),
      deferred: deferred === true || undefined,
    })
    return [textOf(name) ?? kind ?? '', facts] as const
  })
  return toolsByName(tools)
}

function choiceOf(choice: Json | undefined): string | undefined {
  if (choice === undefined || choice === null || choice === 'auto') return undefined
  if (typeof choice === 'string') return choice
  const { name, type } = objectOf(choice)
  return `tool:${String(name ?? type)}`
}

function outputOf({ type, name, schema, strict }: JsonObject): RequestFacts['output'] {
  if (type === 'json_object') return { kind: 'json' }
  if (type !== 'json_schema') return undefined
  return compact({ kind: 'schema', name: textOf(name), schema, strict: booleanOf(strict) || undefined }) as NonNullable<
    RequestFacts['output']
  >
}

const settingsOf = (body: JsonObject): RequestFacts['settings'] =>
  compact({
    limit: numberOf(body['max_output_tokens']),
    temperature: numberOf(body['temperature']),
    topP: numberOf(body['top_p']),
    presencePenalty: numberOf(body['presence_penalty']),
    frequencyPenalty: numberOf(body['frequency_penalty']),
    topLogprobs: numberOf(body['top_logprobs']) || undefined,
    parallelCalls: body['parallel_tool_calls'] === false ? false : undefined,
    endUser: textOf(body['safety_identifier']) ?? textOf(body['user']),
  }) as RequestFacts['settings']

/**
 * Returns what only responses can state: that nothing is stored, how reasoning is summarized, and what the answer has
 * beside its usual fields.
 */
export const nativeFacts = (body: JsonObject): object =>
  compact({
    store: body['store'] === false ? false : undefined,
    summary: textOf(objectOf(body['reasoning'])['summary']),
    include: Object.fromEntries(listOf(body['include']).map(name => [String(name), true])),
  })

export function requestFacts(body: JsonObject): RequestFacts {
  const { input } = body
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input).map(objectOf)
  const first = items.findIndex(item => !isSystem(item))
  const head = first === -1 ? items : items.slice(0, first)
  const effort = textOf(objectOf(body['reasoning'])['effort'])
  const instructions = textOf(body['instructions'])
  const system = [...(instructions ? [instructions] : []), ...head.flatMap(item => textsOf(turnOf(item).parts))]
  return compact({
    system: system.join('\n\n') || undefined,
    turns: turnsOf(items.slice(head.length).map(turnOf)),
    tools: toolsOf(body),
    toolChoice: choiceOf(body['tool_choice']),
    settings: settingsOf(body),
    output: outputOf(objectOf(objectOf(body['text'])['format'])),
    reasoning: reasoningOf(effort),
    stream: body['stream'] === true || undefined,
    continues: compact({ id: textOf(body['previous_response_id']) }),
  }) as RequestFacts
}
