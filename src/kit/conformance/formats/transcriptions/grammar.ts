import type { Ending, Grammar } from '../../grammar.ts'
import { canonical, isObject, type Json, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'
import { totalFault } from '../../media/usage.ts'
import { type Violation, Violations } from '../../rules.ts'
import type { SseEvent } from '../../sse.ts'
import { timeFaults } from './lint.ts'

/* Checks the order of events in a streamed transcript. Source: https://platform.openai.com/docs/api-reference/audio/transcript-text-delta-event */

/** Returns a token and its log probability. */
const tokenOf = (value: Json): Json => [objectOf(value)['token'] ?? null, objectOf(value)['logprob'] ?? null]

class TranscriptGrammar implements Grammar {
  private readonly violations = new Violations()
  private text = ''
  private readonly logprobs: Json[] = []
  private readonly segments: JsonObject[] = []
  private isDone = false
  private hasFailed = false

  event({ data: text }: SseEvent, data: Json | undefined): void {
    if (text === '[DONE]') return
    if (!isObject(data)) return this.violations.add('json', `The data is not a JSON object: ${text.slice(0, 100)}`)
    const type = textOf(data['type'])
    if (data['error'] != null || type === 'error') this.hasFailed = true
    else if (this.isDone) this.violations.add('done', `${type} comes after transcript.text.done.`)
    else if (type === 'transcript.text.delta') this.delta(data)
    else if (type === 'transcript.text.segment') this.segments.push(data)
    else if (type === 'transcript.text.done') this.checkDone(data)
  }

  get ending(): Ending | undefined {
    if (this.hasFailed) return 'error'
    return this.isDone ? 'normal' : undefined
  }

  end(isComplete: boolean): readonly Violation[] {
    for (const fault of timeFaults(this.segments)) this.violations.add('times', fault)
    if (isComplete && !this.hasFailed && !this.isDone)
      this.violations.add('done', 'The stream ends without transcript.text.done.')
    return this.violations.list
  }

  private delta(event: JsonObject): void {
    this.text += textOf(event['delta']) ?? ''
    for (const one of listOf(event['logprobs'])) this.logprobs.push(tokenOf(one))
  }

  private checkDone(event: JsonObject): void {
    this.isDone = true
    const { text, logprobs, usage } = event
    if (text !== this.text)
      this.violations.add('text-adds-up', `${JSON.stringify(text)} is not ${JSON.stringify(this.text)}.`)
    const tokens = listOf(logprobs).map(tokenOf)
    if (canonical(tokens) !== canonical(this.logprobs))
      this.violations.add(
        'text-adds-up',
        `The last event has ${tokens.length} log probabilities, the deltas ${this.logprobs.length}, or other ones.`,
      )
    const fault = totalFault(objectOf(usage))
    if (fault !== undefined) this.violations.add('usage-adds-up', fault)
  }
}

export const grammar = (): Grammar => new TranscriptGrammar()
