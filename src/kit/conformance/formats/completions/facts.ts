import { type LogprobFacts, logprobOf, type RequestFacts } from '../../facts.ts'
import { compact, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { chat } from '../chat/index.ts'

/* Extracts the facts of text completions. A single prompt counts as a user turn, as in the chat format. */

export interface CompletionFacts extends RequestFacts {
  /** Prompts, if there are several or if they are token ids. Ids are joined by spaces. */
  readonly prompts?: readonly { readonly text?: string; readonly tokens?: string }[]
  /** True if the answer repeats the prompt. */
  readonly echo?: boolean
  /** Text after the insertion. */
  readonly suffix?: string
  /** Number of completions to generate, of which the best is returned. */
  readonly bestOf?: number
}

/** Returns the prompts of a request. A list of numbers is one prompt of token ids. */
export function promptsOf({ prompt = null }: JsonObject): readonly Json[] {
  if (!Array.isArray(prompt)) return [prompt]
  return typeof listOf(prompt)[0] === 'number' ? [prompt] : prompt
}

const promptFacts = (prompt: Json): object => (Array.isArray(prompt) ? { tokens: prompt.join(' ') } : { text: prompt })

export function requestFacts(body: JsonObject): CompletionFacts {
  const [first = null, ...others] = promptsOf(body)
  const isPlain = typeof first === 'string' && others.length === 0
  const { logprobs, n, ...settings } = body
  const messages = isPlain ? [{ role: 'user', content: first }] : []
  const top = typeof logprobs === 'number' ? { logprobs: true, top_logprobs: logprobs } : {}
  return compact({
    ...chat.request({ ...settings, ...top, n: n ?? 1, messages }, '/completions'),
    prompts: isPlain ? undefined : promptsOf(body).map(promptFacts),
    echo: body['echo'] === true || undefined,
    suffix: textOf(body['suffix']) || undefined,
    bestOf: numberOf(body['best_of']),
  }) as CompletionFacts
}

/** Reads the lists of log probabilities, which have one entry per token. */
function logprobsOf(value: Json | undefined): LogprobFacts[] {
  const { tokens, token_logprobs: logprobs, top_logprobs: tops } = objectOf(value)
  return listOf(tokens).map((token, index) => {
    const top = Object.entries(objectOf(listOf(tops)[index]))
    return logprobOf(textOf(token), numberOf(listOf(logprobs)[index]), top)
  })
}

/** Returns the choices of an answer, sorted by index. */
export const choicesOf = (body: JsonObject): JsonObject[] =>
  listOf(body['choices'])
    .map(objectOf)
    .sort((a, b) => (numberOf(a['index']) ?? 0) - (numberOf(b['index']) ?? 0))

/** Returns the facts of a whole answer or of an assembled stream. */
export function answerFacts(body: JsonObject): object {
  const choices = choicesOf(body)
  const asChat = choices.map(({ text, finish_reason }) => ({
    message: { content: text ?? null },
    finish_reason: finish_reason ?? null,
  }))
  const { candidates = [], usage } = chat.answer({ usage: body['usage'] ?? null, choices: asChat })
  const facts = candidates.map((candidate, index) =>
    compact({ ...candidate, logprobs: logprobsOf(choices[index]?.['logprobs']) }),
  )
  return compact({ candidates: facts, usage })
}
