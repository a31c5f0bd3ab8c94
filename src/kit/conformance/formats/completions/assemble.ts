import { isObject, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'

/* Assembles the chunks of a stream into a text completion. Source: https://platform.openai.com/docs/api-reference/completions/object */

interface PartialCompletion {
  text: string
  finish: Json
  logprobs: { [list: string]: Json }
}

function add(partial: PartialCompletion, { text, finish_reason: finish, logprobs }: JsonObject): void {
  partial.text += textOf(text) ?? ''
  if (finish !== undefined && finish !== null) partial.finish = finish
  for (const [name, list] of Object.entries(objectOf(logprobs)))
    if (Array.isArray(list)) partial.logprobs[name] = [...listOf(partial.logprobs[name]), ...list]
}

/** Assembles the chunks of a stream into a text completion. */
export function assemble(events: readonly Json[]): JsonObject {
  const completion: { [field: string]: Json } = {}
  const choices = new Map<number, PartialCompletion>()
  for (const event of events) {
    const chunk = objectOf(event)
    for (const [field, value] of Object.entries(chunk))
      if (field !== 'choices' && (field !== 'usage' || isObject(value))) completion[field] = value
    for (const value of listOf(chunk['choices'])) {
      const choice = objectOf(value)
      const index = numberOf(choice['index']) ?? 0
      add(
        choices.getOrInsertComputed(index, () => ({ text: '', finish: null, logprobs: {} })),
        choice,
      )
    }
  }
  const built = [...choices].map(([index, { text, finish, logprobs }]) => ({
    ...{ index, text, finish_reason: finish },
    logprobs: Object.keys(logprobs).length > 0 ? logprobs : null,
  }))
  return { ...completion, choices: built.sort((a, b) => a.index - b.index) }
}
