import {
  argumentsOf,
  mediaAt,
  mediaOf,
  type Part,
  type RawTurn,
  type RequestFacts,
  toolsByName,
  turnsOf,
} from '../../facts.ts'
import { booleanOf, compact, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'

/* Extracts the facts of a chat-completions request. */

const isSystem = (message: Json): boolean => ['system', 'developer'].includes(String(objectOf(message)['role']))

function partOf(value: Json): Part[] {
  const part = objectOf(value)
  const file = objectOf(part['file'])
  const audio = objectOf(part['input_audio'])
  const image = part['image_url']
  switch (part['type']) {
    case 'text':
      return [{ kind: 'text', text: textOf(part['text']) ?? '' }]
    case 'refusal':
      return [{ kind: 'refusal', text: textOf(part['refusal']) ?? '' }]
    case 'image_url':
      return [{ kind: 'media', media: mediaAt(textOf(objectOf(image)['url']) ?? textOf(image) ?? '') }]
    case 'input_audio':
      return [{ kind: 'media', media: mediaOf(`audio/${String(audio['format'])}`, textOf(audio['data']) ?? '') }]
    case 'file':
      return [
        {
          kind: 'media',
          media: compact({ ...mediaAt(textOf(file['file_data']) ?? ''), name: textOf(file['filename']) }),
        },
      ]
    default:
      return []
  }
}

const partsOf = (content: Json | undefined): Part[] =>
  typeof content === 'string' ? [{ kind: 'text', text: content }] : listOf(content).flatMap(partOf)

const textsOf = (content: Json | undefined): string[] =>
  partsOf(content).flatMap(part => (part.kind === 'text' ? part.text : []))

function callOf(value: Json): Part {
  const call = objectOf(value)
  const body = objectOf(call['function'] ?? call['custom'])
  const isCustom = call['type'] === 'custom'
  const name = textOf(body['name'])
  const id = textOf(call['id'])
  const args = isCustom ? (body['input'] ?? '') : argumentsOf(textOf(body['arguments']) ?? '')
  return { kind: 'call', call: { ...compact({ id, name }), arguments: args } }
}

function assistantParts(message: JsonObject): Part[] {
  const reasoning = textOf(message['reasoning_content']) ?? textOf(message['reasoning'])
  const refusal = textOf(message['refusal'])
  return [
    ...(reasoning ? [{ kind: 'reasoning', reasoning: { text: reasoning } } as const] : []),
    ...partsOf(message['content']).filter(part => part.kind !== 'text' || part.text !== ''),
    ...(refusal ? [{ kind: 'refusal', text: refusal } as const] : []),
    ...listOf(message['tool_calls']).map(callOf),
  ]
}

function turnOf(value: Json): RawTurn {
  const message = objectOf(value)
  const { role, content } = message
  if (role === 'assistant') return { role, parts: assistantParts(message) }
  if (role !== 'tool') return { role: isSystem(message) ? 'system' : 'user', parts: partsOf(content) }
  const id = textOf(message['tool_call_id'])
  const result = { text: textsOf(content).join('') }
  return { role: 'user', parts: [{ kind: 'result', result, ...(id === undefined ? {} : { callId: id }) }] }
}

function toolsOf(body: JsonObject): RequestFacts['tools'] {
  const tools = listOf(body['tools']).map(value => {
    const tool = objectOf(value)
    const inner = objectOf(tool['function'] ?? tool['custom'])
    const facts = compact({
      description: textOf(inner['description']),
      parameters: inner['parameters'],
      strict: booleanOf(inner['strict']) || undefined,
      kind: tool['type'] === 'custom' ? 'free-form' : undefined,
      grammar: grammarOf(objectOf(objectOf(inner['format'])['grammar'])),
    })
    return [textOf(inner['name']) ?? '', facts] as const
  })
  const search = body['web_search_options'] === undefined ? [] : [['web-search', { kind: 'web-search' }] as const]
  return toolsByName([...tools, ...search])
}

/** Returns the grammar that restricts the text of a free-form tool. */
export const grammarOf = ({ syntax, definition }: JsonObject) =>
  compact({ syntax: textOf(syntax), definition: textOf(definition) })

function choiceOf(choice: Json | undefined): string | undefined {
  if (choice === undefined || choice === null || choice === 'auto') return undefined
  if (typeof choice === 'string') return choice
  const { function: functionChoice, custom } = objectOf(choice)
  return `tool:${String(objectOf(functionChoice ?? custom)['name'])}`
}

function outputOf(format: JsonObject): RequestFacts['output'] {
  if (format['type'] === 'json_object') return { kind: 'json' }
  if (format['type'] !== 'json_schema') return undefined
  const { name, schema, strict } = objectOf(format['json_schema'])
  return compact({ kind: 'schema', name: textOf(name), schema, strict: booleanOf(strict) || undefined }) as NonNullable<
    RequestFacts['output']
  >
}

const stopsOf = (stop: Json | undefined): string[] =>
  typeof stop === 'string' ? [stop] : listOf(stop).flatMap(one => textOf(one) ?? [])

/** Returns the settings of the body. `max_tokens` is the deprecated name of `max_completion_tokens`. */
function settingsOf(body: JsonObject): RequestFacts['settings'] {
  const candidates = numberOf(body['n'])
  return compact({
    limit: numberOf(body['max_completion_tokens']) ?? numberOf(body['max_tokens']),
    temperature: numberOf(body['temperature']),
    topP: numberOf(body['top_p']),
    stop: stopsOf(body['stop']),
    seed: numberOf(body['seed']),
    presencePenalty: numberOf(body['presence_penalty']),
    frequencyPenalty: numberOf(body['frequency_penalty']),
    candidates: candidates === 1 ? undefined : candidates,
    topLogprobs: body['logprobs'] === true ? (numberOf(body['top_logprobs']) ?? 0) : undefined,
    parallelCalls: body['parallel_tool_calls'] === false ? false : undefined,
    endUser: textOf(body['safety_identifier']) ?? textOf(body['user']),
  }) as RequestFacts['settings']
}

/** Returns what an effort says about reasoning. */
export function reasoningOf(effort: string | undefined): RequestFacts['reasoning'] {
  if (effort === undefined) return undefined
  return effort === 'none' ? { wanted: false } : { wanted: true, effort }
}

/** Returns the facts of a request body. */
export function requestFacts(body: JsonObject): RequestFacts {
  const messages = listOf(body['messages'])
  const first = messages.findIndex(message => !isSystem(message))
  const head = first === -1 ? messages : messages.slice(0, first)
  const effort = textOf(body['reasoning_effort'])
  return compact({
    system: head.flatMap(message => textsOf(objectOf(message)['content'])).join('\n\n') || undefined,
    turns: turnsOf(messages.slice(head.length).map(turnOf)),
    tools: toolsOf(body),
    toolChoice: choiceOf(body['tool_choice']),
    settings: settingsOf(body),
    output: outputOf(objectOf(body['response_format'])),
    reasoning: reasoningOf(effort),
    stream: body['stream'] === true || undefined,
  }) as RequestFacts
}
