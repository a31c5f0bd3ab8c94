import { type AnswerFacts, type Finish, mediaOf, orderOf, type Part, withLateSignatures } from '../../facts.ts'
import { compact, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { logprobsIn } from '../chat/answer.ts'
import { CALLS, callFacts, reasoningFacts } from './items.ts'

/* Extracts the facts of a response. */

const INCOMPLETE: { readonly [reason: string]: Finish } = {
  ...{ max_output_tokens: 'length', content_filter: 'filtered' },
}

/** Returns the finish reason. Calls and refusals are items of a completed response and have no separate status. */
function finishOf(body: JsonObject, calls: number, refusal: string): Finish | undefined {
  const status = textOf(body['status'])
  if (status === 'completed') return refusal !== '' ? 'refused' : calls > 0 ? 'calls' : 'stop'
  const reason = textOf(objectOf(body['incomplete_details'])['reason'])
  if (status === 'incomplete') return INCOMPLETE[reason ?? ''] ?? `other:${reason}`
  return status === undefined ? undefined : `other:${status}`
}

/** Returns the kinds of an item's parts. Reasoning without a text is only a signature. */
function kindsOf(item: JsonObject): Part['kind'][] {
  const { type, content } = item
  if (CALLS.has(String(type))) return ['call']
  if (type === 'image_generation_call') return ['media']
  if (type === 'reasoning') return reasoningFacts(item).text === undefined ? [] : ['reasoning']
  if (type !== 'message') return []
  return listOf(content).flatMap(part => (textOf(objectOf(part)['refusal']) ? 'refusal' : 'text'))
}

/** Returns the facts of a whole answer or of an assembled stream. */
export function answerFacts(body: JsonObject): AnswerFacts {
  const items = listOf(body['output']).map(objectOf)
  const parts = items.filter(({ type }) => type === 'message').flatMap(({ content }) => listOf(content).map(objectOf))
  const joined = (field: string): string => parts.map(part => textOf(part[field]) ?? '').join('')
  const calls = items.filter(({ type }) => CALLS.has(String(type))).map(callFacts)
  const images = items.filter(({ type, result }) => type === 'image_generation_call' && typeof result === 'string')
  const candidate = compact({
    order: orderOf(items.flatMap(kindsOf).map(kind => ({ kind }))),
    text: joined('text') || undefined,
    reasoning: withLateSignatures(items.filter(({ type }) => type === 'reasoning').map(reasoningFacts)),
    calls,
    media: images.map(({ output_format, result }) =>
      mediaOf(`image/${textOf(output_format) ?? 'png'}`, String(result)),
    ),
    refusal: joined('refusal') || undefined,
    citations: parts.flatMap(part => listOf(part['annotations']).flatMap(one => textOf(objectOf(one)['url']) ?? [])),
    logprobs: parts.flatMap(part => logprobsIn(part['logprobs'])),
    finish: finishOf(body, calls.length, joined('refusal')),
  })
  return compact({ candidates: [candidate], usage: usageOf(objectOf(body['usage'])) }) as AnswerFacts
}

function usageOf(usage: JsonObject): AnswerFacts['usage'] {
  const input = objectOf(usage['input_tokens_details'])
  return compact({
    input: numberOf(usage['input_tokens']),
    output: numberOf(usage['output_tokens']),
    cacheRead: numberOf(input['cached_tokens']) || undefined,
    cacheWrite: numberOf(input['cache_write_tokens']) || undefined,
    reasoning: numberOf(objectOf(usage['output_tokens_details'])['reasoning_tokens']) || undefined,
  }) as AnswerFacts['usage']
}
