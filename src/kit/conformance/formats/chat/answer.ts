import {
  type AnswerFacts,
  argumentsOf,
  type CandidateFacts,
  type Finish,
  logprobOf,
  mediaOf,
  orderOf,
} from '../../facts.ts'
import { compact, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'

/* Extracts the facts of a chat completion. */

const FINISHES: { readonly [reason: string]: Finish } = {
  ...{ stop: 'stop', length: 'length', tool_calls: 'calls', function_call: 'calls', content_filter: 'filtered' },
}

/**
 * Returns the finish reason. OpenAI ends a refusal with `stop` or `content_filter`, so the `refusal` field decides.
 * Calls also override the reason.
 */
function finishOf(reason: string | undefined, message: JsonObject): Finish | undefined {
  if (reason === undefined) return undefined
  const known = FINISHES[reason] ?? `other:${reason}`
  if (textOf(message['refusal']) && (known === 'stop' || known === 'filtered')) return 'refused'
  if (known !== 'stop') return known
  return listOf(message['tool_calls']).length > 0 ? 'calls' : 'stop'
}

/**
 * Returns the facts of a call. Google signs calls in its OpenAI-compatible API:
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const callOf = (value: Json) => {
  const call = objectOf(value)
  const { name, arguments: args, input } = objectOf(call['function'] ?? call['custom'])
  const isCustom = call['type'] === 'custom'
  return compact({
    id: textOf(call['id']),
    name: textOf(name),
    arguments: isCustom ? (input ?? '') : argumentsOf(textOf(args) ?? ''),
    signature: textOf(objectOf(objectOf(call['extra_content'])['google'])['thought_signature']),
  })
}

/** Returns the facts of a token list, which has the same form in responses. */
export const logprobsIn = (tokens: Json | undefined) =>
  listOf(tokens).map(value => {
    const { token, logprob, top_logprobs: top } = objectOf(value)
    const alternatives = listOf(top).map(objectOf)
    return logprobOf(
      textOf(token),
      numberOf(logprob),
      alternatives.map(one => [textOf(one['token']) ?? '', one['logprob'] ?? null]),
    )
  })

/** Returns the order of a message's parts, which the format itself states: reasoning, text, refusal, calls. */
function orderOfMessage(message: JsonObject, reasoning: string | undefined): string | undefined {
  const kinds = [
    reasoning ? ['reasoning' as const] : [],
    textOf(message['content']) ? ['text' as const] : [],
    textOf(message['refusal']) ? ['refusal' as const] : [],
    listOf(message['tool_calls']).length > 0 ? ['call' as const] : [],
  ].flat()
  return orderOf(kinds.map(kind => ({ kind })))
}

function candidateOf(value: Json): CandidateFacts {
  const choice = objectOf(value)
  const message = objectOf(choice['message'])
  const reasoning = textOf(message['reasoning_content']) ?? textOf(message['reasoning'])
  const audio = textOf(objectOf(message['audio'])['data'])
  return compact({
    order: orderOfMessage(message, reasoning),
    text: textOf(message['content']) || undefined,
    reasoning: reasoning ? [{ text: reasoning }] : undefined,
    calls: listOf(message['tool_calls']).map(callOf),
    media: audio === undefined ? undefined : [mediaOf(undefined, audio)],
    refusal: textOf(message['refusal']) || undefined,
    citations: listOf(message['annotations']).flatMap(
      one => textOf(objectOf(objectOf(one)['url_citation'])['url']) ?? [],
    ),
    logprobs: logprobsIn(objectOf(choice['logprobs'])['content']),
    finish: finishOf(textOf(choice['finish_reason']), message),
  }) as CandidateFacts
}

/**
 * Fields with the tokens written to a cache: OpenAI's field, and the fields that gateways used before OpenAI had one.
 * Source: https://docs.litellm.ai/docs/completion/prompt_caching, https://portkey.ai/docs/integrations/llms/anthropic/prompt-caching
 */
const CACHE_WRITE_FIELDS = ['cache_write_tokens', 'cache_creation_tokens', 'cached_creation_tokens'] as const

const cacheWriteOf = (usage: JsonObject, input: JsonObject): number | undefined =>
  CACHE_WRITE_FIELDS.map(name => numberOf(input[name])).find(Boolean) ||
  numberOf(usage['cache_creation_input_tokens']) ||
  undefined

/** Returns the facts of a whole answer or of an assembled stream. */
export function answerFacts(body: JsonObject): AnswerFacts {
  const usage = objectOf(body['usage'])
  const input = objectOf(usage['prompt_tokens_details'])
  const output = objectOf(usage['completion_tokens_details'])
  return compact({
    candidates: listOf(body['choices']).map(candidateOf),
    usage: compact({
      input: numberOf(usage['prompt_tokens']),
      output: numberOf(usage['completion_tokens']),
      cacheRead: numberOf(input['cached_tokens']) || undefined,
      cacheWrite: cacheWriteOf(usage, input),
      reasoning: numberOf(output['reasoning_tokens']) || undefined,
    }),
  }) as AnswerFacts
}
