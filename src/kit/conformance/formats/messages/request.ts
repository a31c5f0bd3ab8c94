import {
  hostedKind,
  type MediaFacts,
  mediaOf,
  type Part,
  type RawTurn,
  type RequestFacts,
  type ResultFacts,
  toolsByName,
  turnsOf,
} from '../../facts.ts'
import { booleanOf, compact, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'

/* Extracts the facts of a messages request. */

/** Returns the facts of media: bytes, a URL or a file at the provider. */
function mediaFacts(block: JsonObject): MediaFacts {
  const source = objectOf(block['source'])
  const name = textOf(block['title'])
  const type = textOf(source['media_type'])
  if (source['type'] === 'url') return compact({ address: textOf(source['url']), name })
  if (source['type'] === 'text')
    return compact({ ...mediaOf(type, Buffer.from(textOf(source['data']) ?? '').toString('base64')), name })
  return compact({ ...mediaOf(type, textOf(source['data']) ?? ''), name })
}

const texts = (content: Json | undefined): string[] =>
  typeof content === 'string' ? [content] : listOf(content).flatMap(block => textOf(objectOf(block)['text']) ?? [])

function resultOf(block: JsonObject): ResultFacts {
  const media = listOf(block['content'])
    .map(objectOf)
    .filter(({ type }) => type === 'image' || type === 'document')
  return compact({
    text: texts(block['content']).join(''),
    media: media.map(mediaFacts),
    isError: block['is_error'] === true || undefined,
  }) as ResultFacts
}

const citationsIn = (block: JsonObject): string[] =>
  listOf(block['citations']).flatMap(one => textOf(objectOf(one)['cited_text']) ?? [])

function partsOf(value: Json): Part[] {
  const block = objectOf(value)
  switch (block['type']) {
    case 'text':
      return [{ kind: 'text', text: textOf(block['text']) ?? '', citations: citationsIn(block) }]
    case 'image':
    case 'document':
      return [{ kind: 'media', media: mediaFacts(block) }]
    case 'thinking': {
      const reasoning = {
        text: textOf(block['thinking']) || undefined,
        signature: textOf(block['signature']) || undefined,
      }
      return [{ kind: 'reasoning', reasoning: compact(reasoning) as object }]
    }
    case 'redacted_thinking':
      return [{ kind: 'reasoning', reasoning: { redacted: textOf(block['data']) ?? '' } }]
    case 'tool_use': {
      const call = { id: textOf(block['id']), name: textOf(block['name']) }
      return [{ kind: 'call', call: { ...(compact(call) as object), arguments: block['input'] ?? {} } }]
    }
    case 'tool_result': {
      const id = textOf(block['tool_use_id'])
      return [{ kind: 'result', result: resultOf(block), ...(id === undefined ? {} : { callId: id }) }]
    }
    default:
      return []
  }
}

function turnOf(value: Json): RawTurn {
  const { role, content } = objectOf(value)
  const parts: Part[] =
    typeof content === 'string' ? [{ kind: 'text', text: content }] : listOf(content).flatMap(partsOf)
  return { role: role === 'assistant' || role === 'system' ? role : 'user', parts }
}

function toolsOf(body: JsonObject): RequestFacts['tools'] {
  const tools = listOf(body['tools']).map(value => {
    const tool = objectOf(value)
    const type = textOf(tool['type'])
    const kind = type === undefined || type === 'custom' ? undefined : hostedKind(type)
    const facts = compact({
      description: textOf(tool['description']),
      parameters: tool['input_schema'],
      strict: booleanOf(tool['strict']) || undefined,
      kind,
      deferred: tool['defer_loading'] === true || undefined,
    })
    return [kind ?? textOf(tool['name']) ?? '', facts] as const
  })
  return toolsByName(tools)
}

const TOOL_CHOICES: { readonly [type: string]: string } = { any: 'required', none: 'none' }

const choiceOf = (choice: JsonObject): string | undefined =>
  choice['type'] === 'tool' ? `tool:${String(choice['name'])}` : TOOL_CHOICES[textOf(choice['type']) ?? '']

function reasoningOf(body: JsonObject): RequestFacts['reasoning'] {
  const { type, budget_tokens } = objectOf(body['thinking'])
  const effort = textOf(objectOf(body['output_config'])['effort'])
  const isWanted = type === 'enabled' || type === 'adaptive'
  if (!isWanted && effort === undefined) return undefined
  return compact({ wanted: isWanted, effort, budget: numberOf(budget_tokens) }) as NonNullable<
    RequestFacts['reasoning']
  >
}

/** Lifetime of a cache marker that states none. */
const DEFAULT_LIFETIME = '5m'

/** Returns the cache markers of blocks, each as a path with its lifetime if that is not the default. */
const marksOf = (path: string, blocks: Json | undefined): string[] =>
  listOf(blocks).flatMap(block => {
    const marker = objectOf(block)['cache_control'] ?? null
    if (marker === null) return []
    const lifetime = textOf(objectOf(marker)['ttl']) ?? DEFAULT_LIFETIME
    return [lifetime === DEFAULT_LIFETIME ? path : `${path} ${lifetime}`]
  })

/** Returns the paths of blocks with `cache_control`. Turns are numbered as in the facts. */
function cacheMarksOf(body: JsonObject): string[] {
  const marks = [...marksOf('system', body['system']), ...marksOf('tools', body['tools'])]
  let index = -1
  let role: Json | undefined
  for (const message of listOf(body['messages']).map(objectOf)) {
    if (message['role'] !== role) index++
    role = message['role']
    for (const mark of marksOf(`turns[${index}]`, message['content'])) marks.push(mark)
  }
  return [...new Set(marks)]
}

export function requestFacts(body: JsonObject): RequestFacts {
  const format = objectOf(objectOf(body['output_config'])['format'] ?? body['output_format'])
  return compact({
    system: texts(body['system']).join('\n\n') || undefined,
    turns: turnsOf(listOf(body['messages']).map(turnOf)),
    tools: toolsOf(body),
    toolChoice: choiceOf(objectOf(body['tool_choice'])),
    settings: compact({
      limit: numberOf(body['max_tokens']),
      temperature: numberOf(body['temperature']),
      topP: numberOf(body['top_p']),
      topK: numberOf(body['top_k']),
      stop: listOf(body['stop_sequences']).flatMap(one => textOf(one) ?? []),
      parallelCalls: objectOf(body['tool_choice'])['disable_parallel_tool_use'] === true ? false : undefined,
      endUser: textOf(objectOf(body['metadata'])['user_id']),
    }),
    output: format['type'] === 'json_schema' ? compact({ kind: 'schema', schema: format['schema'] }) : undefined,
    reasoning: reasoningOf(body),
    cacheMarks: cacheMarksOf(body),
    stream: body['stream'] === true || undefined,
  }) as RequestFacts
}
