import type { Ending, Grammar } from '../../grammar.ts'
import { isObject, type Json, objectOf, textOf } from '../../json.ts'
import { BASE64 } from '../../media/base64.ts'
import { totalFault } from '../../media/usage.ts'
import { type Violation, Violations } from '../../rules.ts'
import type { SseEvent } from '../../sse.ts'

/* Checks the order of events in a speech stream. Source: https://platform.openai.com/docs/api-reference/audio/speech-audio-delta-event */

class SpeechGrammar implements Grammar {
  private readonly violations = new Violations()
  private bytes = 0
  private isDone = false
  private hasFailed = false

  event({ data: text }: SseEvent, data: Json | undefined): void {
    if (text === '[DONE]') return
    if (!isObject(data)) return this.violations.add('json', `The data is not a JSON object: ${text.slice(0, 100)}`)
    const type = textOf(data['type'])
    if (data['error'] != null || type === 'error') this.hasFailed = true
    else if (this.isDone) this.violations.add('done', `${type} comes after speech.audio.done.`)
    else if (type === 'speech.audio.delta') this.delta(data['audio'])
    else if (type === 'speech.audio.done') this.checkDone(data['usage'])
  }

  get ending(): Ending | undefined {
    if (this.hasFailed) return 'error'
    return this.isDone ? 'normal' : undefined
  }

  end(isComplete: boolean): readonly Violation[] {
    if (!isComplete || this.hasFailed) return this.violations.list
    if (!this.isDone) this.violations.add('done', 'The stream ends without speech.audio.done.')
    if (this.bytes === 0) this.violations.add('sound-present', 'No delta contains audio.')
    return this.violations.list
  }

  private delta(audio: Json | undefined): void {
    const piece = textOf(audio) ?? ''
    this.bytes += piece.length
    if (!BASE64.test(piece)) this.violations.add('base64', `A delta is not base64: ${piece.slice(0, 40)}`)
  }

  private checkDone(usage: Json | undefined): void {
    this.isDone = true
    const fault = totalFault(objectOf(usage))
    if (fault !== undefined) this.violations.add('usage-adds-up', fault)
  }
}

export const grammar = (): Grammar => new SpeechGrammar()
