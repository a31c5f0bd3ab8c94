import {
  type AnswerFacts,
  type Finish,
  orderOf,
  type Part,
  type ReasoningFacts,
  withLateSignatures,
} from '../../facts.ts'
import { compact, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'

/* Extracts the facts of a message. */

const FINISHES: { readonly [reason: string]: Finish } = {
  ...{ end_turn: 'stop', stop_sequence: 'stop', max_tokens: 'length', model_context_window_exceeded: 'length' },
  ...{ tool_use: 'calls', refusal: 'filtered', pause_turn: 'paused' },
}

const finishOf = (reason: string | undefined): Finish | undefined =>
  reason === undefined ? undefined : (FINISHES[reason] ?? `other:${reason}`)

/** Returns the usage. On the wire, `input_tokens` excludes both cache counts. */
function usageOf(usage: JsonObject): AnswerFacts['usage'] {
  const [input, cached, written] = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'].map(
    field => numberOf(usage[field]),
  )
  return compact({
    input: input === undefined ? undefined : input + (cached ?? 0) + (written ?? 0),
    output: numberOf(usage['output_tokens']),
    cacheRead: cached || undefined,
    cacheWrite: written || undefined,
    reasoning: numberOf(objectOf(usage['output_tokens_details'])['thinking_tokens']) || undefined,
  }) as AnswerFacts['usage']
}

/** Kinds of parts, by the type of their block. */
const KINDS: { readonly [type: string]: Part['kind'] } = {
  ...{ text: 'text', thinking: 'reasoning', tool_use: 'call' },
}

const thinkingFacts = ({ thinking, signature }: JsonObject): ReasoningFacts =>
  compact({ text: textOf(thinking) || undefined, signature: textOf(signature) || undefined }) as ReasoningFacts

/** Returns the facts of a whole answer or of an assembled stream. */
export function answerFacts(body: JsonObject): AnswerFacts {
  const blocks = listOf(body['content']).map(objectOf)
  const blocksOfType = (type: string): JsonObject[] => blocks.filter(block => block['type'] === type)
  const reason = textOf(body['stop_reason'])
  const text = blocksOfType('text')
    .map(block => textOf(block['text']) ?? '')
    .join('')
  // If a classifier stops an answer, the text so far stays. The explanation is the text of the refusal.
  const refusal = textOf(objectOf(body['stop_details'])['explanation']) || undefined
  const kinds = blocks.flatMap(({ type, text, thinking }) =>
    text === '' || thinking === '' ? [] : (KINDS[String(type)] ?? []),
  )
  const candidate = compact({
    order: orderOf(kinds.map(kind => ({ kind }))),
    text: text || undefined,
    refusal,
    reasoning: [
      ...withLateSignatures(blocksOfType('thinking').map(thinkingFacts)),
      ...blocksOfType('redacted_thinking').map(({ data }) => ({ redacted: textOf(data) ?? '' })),
    ],
    calls: blocksOfType('tool_use').map(({ id, name, input }) => ({
      ...compact({ id: textOf(id), name: textOf(name) }),
      arguments: input ?? {},
    })),
    citations: blocksOfType('text').flatMap(block =>
      listOf(block['citations']).flatMap(one => textOf(objectOf(one)['url']) ?? []),
    ),
    finish: refusal === undefined ? finishOf(reason) : 'refused',
    stopSequence: textOf(body['stop_sequence']),
  })
  return compact({ candidates: [candidate], usage: usageOf(objectOf(body['usage'])) }) as AnswerFacts
}
