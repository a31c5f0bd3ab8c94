import type { Ending, Grammar } from '../../grammar.ts'
import { isObject, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { type Violation, Violations } from '../../rules.ts'
import type { SseEvent } from '../../sse.ts'
import { isStatusOf } from './lint.ts'
import { checkPart, isPiece } from './parts.ts'
import { totalFault } from './usage.ts'

/* Checks the order of events in a streamGenerateContent stream. Source: docs/wire/contents.md#stream */

interface Candidate {
  finish: string | undefined
  /** True if a call with streamed arguments is open. */
  isCalling: boolean
}

class ContentsGrammar implements Grammar {
  private readonly violations = new Violations()
  private readonly candidates = new Map<number, Candidate>()
  private id: string | undefined
  private hasFailed = false
  private isBlocked = false
  private usage: JsonObject | undefined
  private total = 0

  event({ name, data: text }: SseEvent, data: Json | undefined): void {
    if (name !== undefined) this.violations.add('no-event-name', `An event is named ${JSON.stringify(name)}.`)
    if (!isObject(data)) this.violations.add('json', `The data is not a JSON object: ${text.slice(0, 100)}`)
    else if (data['error'] != null) this.checkError(objectOf(data['error']))
    else this.answer(data)
  }

  get ending(): Ending | undefined {
    if (this.hasFailed) return 'error'
    return [...this.candidates.values()].some(({ finish }) => finish !== undefined) ? 'normal' : undefined
  }

  end(isComplete: boolean): readonly Violation[] {
    if (!isComplete || this.hasFailed) return this.violations.list
    for (const [index, { finish }] of this.candidates)
      if (finish === undefined) this.violations.add('finish-present', `Candidate ${index} has no finishReason.`)
    if (this.candidates.size === 0 && !this.isBlocked)
      this.violations.add('finish-present', 'No event has a candidate or promptFeedback.')
    if (this.usage === undefined) this.violations.add('usage', 'No event has usageMetadata.')
    const fault = totalFault(this.usage ?? {})
    if (fault !== undefined) this.violations.add('usage-adds-up', fault)
    return this.violations.list
  }

  private checkError({ code, message, status }: JsonObject): void {
    this.hasFailed = true
    if (!textOf(message) || !textOf(status))
      this.violations.add('error-event', `The error has the message ${message} and the status ${status}.`)
    else if (!isStatusOf(Number(code), String(status)))
      this.violations.add('error-event', `The status ${status} does not belong to ${code}.`)
    if (typeof code !== 'number' || code < 400 || code > 599)
      this.violations.add('error-code', `The code of an error is ${JSON.stringify(code)}.`)
  }

  private answer(event: JsonObject): void {
    const id = textOf(event['responseId'])
    if (id !== undefined) {
      this.id ??= id
      if (id !== this.id) this.violations.add('one-id', `An event of ${this.id} has the responseId ${id}.`)
    }
    if (objectOf(event['promptFeedback'])['blockReason'] !== undefined) this.isBlocked = true
    if (isObject(event['usageMetadata'])) this.checkUsage(event['usageMetadata'])
    for (const candidate of listOf(event['candidates'])) this.candidate(objectOf(candidate))
  }

  private checkUsage(usage: JsonObject): void {
    this.usage = usage
    const total = numberOf(usage['totalTokenCount']) ?? this.total
    if (total < this.total)
      this.violations.add('usage-total', `totalTokenCount decreases from ${this.total} to ${total}.`)
    this.total = total
  }

  private candidate(value: JsonObject): void {
    const index = numberOf(value['index']) ?? 0
    const candidate = this.candidates.get(index) ?? { finish: undefined, isCalling: false }
    this.candidates.set(index, candidate)
    const content = objectOf(value['content'])
    const role = content['role']
    if (role !== undefined && role !== 'model') this.violations.add('role', `A content has the role ${String(role)}.`)
    const parts = listOf(content['parts']).map(objectOf)
    // Google runs the calls of hosted tools itself, and then continues with their results.
    if (parts.some(part => isObject(part['functionResponse']))) candidate.finish = undefined
    if (candidate.finish !== undefined && parts.some(part => part['text'] !== ''))
      this.violations.add('finish', `Candidate ${index} continues after ${candidate.finish}.`)
    for (const part of parts) this.part(candidate, part, `A part of candidate ${index}`)
    const finish = textOf(value['finishReason'])
    if (finish === undefined) return
    if (candidate.finish !== undefined && candidate.finish !== finish)
      this.violations.add('finish', `Candidate ${index} finishes with ${candidate.finish}, then with ${finish}.`)
    candidate.finish = finish
  }

  private part(candidate: Candidate, part: JsonObject, where: string): void {
    const call = part['functionCall']
    const isLater = candidate.isCalling && isObject(call)
    if (!isLater) checkPart(part, where, this.violations)
    if (!isObject(call)) return
    if (!isLater && isPiece(call) && !textOf(call['name']))
      this.violations.add('call-has-name', `${where} begins a call without a name.`)
    candidate.isCalling = call['willContinue'] === true
  }
}

export const grammar = (): Grammar => new ContentsGrammar()
