import type { Ending, Grammar, StreamRequest } from '../../grammar.ts'
import { isObject, type Json, type JsonObject, listOf, objectOf } from '../../json.ts'
import { type Violation, Violations } from '../../rules.ts'
import type { SseEvent } from '../../sse.ts'
import { chat } from '../chat/index.ts'

/* Checks the order of a completions stream. It follows the rules of a chat stream, but its deltas are texts. */

/** Converts a chunk of a completion into a chunk of a chat. */
const asChat = (chunk: JsonObject): JsonObject => ({
  ...chunk,
  choices: listOf(chunk['choices'])
    .map(objectOf)
    .map(({ text, ...choice }) => ({ ...choice, delta: { role: 'assistant', content: text ?? '' } })),
})

class CompletionGrammar implements Grammar {
  private readonly inner: Grammar
  private readonly violations = new Violations()

  constructor(request: StreamRequest) {
    this.inner = chat.grammar(request)
  }

  get ending(): Ending | undefined {
    return this.inner.ending
  }

  event(event: SseEvent, data: Json | undefined): void {
    if (isObject(data))
      for (const choice of listOf(data['choices']).map(objectOf))
        if (typeof choice['text'] !== 'string')
          this.violations.add('text', `A choice has no text: ${JSON.stringify(choice).slice(0, 100)}`)
    this.inner.event(event, isObject(data) ? asChat(data) : data)
  }

  end(isComplete: boolean): readonly Violation[] {
    return [...this.violations.list, ...this.inner.end(isComplete)]
  }
}

export const grammar = (request: StreamRequest): Grammar => new CompletionGrammar(request)
