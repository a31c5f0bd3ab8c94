import type { Ending, Grammar, StreamRequest } from '../../grammar.ts'
import { isObject, type Json, type JsonObject, listOf, numberOf, objectOf, parseJson, textOf } from '../../json.ts'
import { type Violation, Violations } from '../../rules.ts'
import type { SseEvent } from '../../sse.ts'
import { totalFault } from './lint.ts'

/* Checks the order of events in a chat-completions stream. Source: https://platform.openai.com/docs/api-reference/chat-streaming */

interface Call {
  id: string | undefined
  name: string | undefined
  text: string
  isFreeForm: boolean
}

const CALL_KINDS: ReadonlySet<Json> = new Set(['function', 'custom'])

interface Choice {
  readonly calls: Call[]
  finish: string | undefined
}

class ChatGrammar implements Grammar {
  private readonly violations = new Violations()
  private readonly choices = new Map<number, Choice>()
  private readonly wantsUsage: boolean
  private id: string | undefined
  private isDone = false
  private hasFailed = false
  private usages = 0

  constructor({ body }: StreamRequest) {
    this.wantsUsage = objectOf(body['stream_options'])['include_usage'] === true
  }

  event({ name, data: text }: SseEvent, data: Json | undefined): void {
    if (this.isDone) this.violations.add('done', 'An event follows [DONE].')
    if (name !== undefined) this.violations.add('no-event-name', `An event is named ${JSON.stringify(name)}.`)
    if (text === '[DONE]') this.isDone = true
    else if (!isObject(data)) this.violations.add('json', `The data is not a JSON object: ${text.slice(0, 100)}`)
    else if (data['error'] != null) this.error(data['error'])
    else this.chunk(data)
  }

  get ending(): Ending | undefined {
    if (this.hasFailed) return 'error'
    return this.isDone || [...this.choices.values()].some(({ finish }) => finish !== undefined) ? 'normal' : undefined
  }

  end(isComplete: boolean): readonly Violation[] {
    if (!isComplete || this.hasFailed) return this.violations.list
    if (!this.isDone) this.violations.add('done', 'The stream ends without [DONE].')
    for (const [index, choice] of this.choices) this.checkFinish(index, choice)
    if (this.choices.size === 0) this.violations.add('finish-present', 'No chunk has a choice.')
    if (this.wantsUsage && this.usages === 0) this.violations.add('usage-when-asked', 'No chunk contains usage.')
    return this.violations.list
  }

  private error(error: Json): void {
    this.hasFailed = true
    if (!textOf(objectOf(error)['message']))
      this.violations.add('error-event', `The error is ${JSON.stringify(error).slice(0, 100)}.`)
  }

  private chunk(chunk: JsonObject): void {
    const id = textOf(chunk['id'])
    // Moderation and filter results may come before the answer and have no id.
    if (id) {
      this.id ??= id
      if (id !== this.id) this.violations.add('one-id', `A chunk of ${this.id} has the id ${id}.`)
    }
    const choices = listOf(chunk['choices'])
    if (isObject(chunk['usage'])) this.usage(chunk['usage'], choices.length)
    for (const choice of choices) this.choice(objectOf(choice))
  }

  private usage(usage: JsonObject, choices: number): void {
    this.usages++
    const fault = totalFault(usage)
    if (fault !== undefined) this.violations.add('usage-adds-up', fault)
    if (this.usages > 1) this.violations.add('usage-last', 'Usage is sent more than once.')
    else if (choices > 0) this.violations.add('usage-last', 'The chunk with usage also has a choice.')
    else if ([...this.choices.values()].some(({ finish }) => finish === undefined))
      this.violations.add('usage-last', 'Usage is sent before all choices have finished.')
  }

  private choice(value: JsonObject): void {
    const index = numberOf(value['index']) ?? 0
    const delta = objectOf(value['delta'])
    let choice = this.choices.get(index)
    if (choice === undefined) {
      this.choices.set(index, (choice = { calls: [], finish: undefined }))
      if (delta['role'] === undefined)
        this.violations.add('role-first', `The first delta of choice ${index} has no role.`)
    }
    const hasContent = ['content', 'refusal', 'reasoning_content'].some(field => Boolean(delta[field]))
    const pieces = listOf(delta['tool_calls'])
    if (choice.finish !== undefined && (hasContent || pieces.length > 0))
      this.violations.add('finish', `Choice ${index} continues after ${choice.finish}.`)
    for (const piece of pieces) this.call(choice, objectOf(piece))
    const finish = textOf(value['finish_reason'])
    if (finish === undefined) return
    if (choice.finish !== undefined && choice.finish !== finish)
      this.violations.add('finish', `Choice ${index} finishes with ${choice.finish}, then with ${finish}.`)
    choice.finish = finish
  }

  private call({ calls }: Choice, piece: JsonObject): void {
    const index = numberOf(piece['index'])
    if (index === undefined || !Number.isInteger(index) || index < 0 || index > calls.length)
      return this.violations.add(
        'call-index',
        `The next call after ${calls.length} calls has the index ${index ?? 'none'}.`,
      )
    const body = objectOf(piece['function'] ?? piece['custom'])
    const id = textOf(piece['id']) || undefined
    const name = textOf(body['name']) || undefined
    const args = body['arguments'] ?? body['input'] ?? ''
    if (index === calls.length) {
      if (id === undefined || name === undefined)
        this.violations.add('call-begins', `Call ${index} begins without ${id === undefined ? 'id' : 'name'}.`)
      if (!CALL_KINDS.has(piece['type'] ?? 'function'))
        this.violations.add('call-begins', `Call ${index} has the type ${JSON.stringify(piece['type'])}.`)
      calls.push({ id, name, text: '', isFreeForm: piece['type'] === 'custom' })
    }
    const call = calls[index]!
    if (id !== undefined && call.id !== undefined && id !== call.id)
      this.violations.add('call-once', `Call ${index} is ${call.id}, then ${id}.`)
    if (name !== undefined && call.name !== undefined && name !== call.name)
      this.violations.add('call-once', `Call ${index} names ${call.name}, then ${name}.`)
    if (typeof args === 'string') call.text += args
    else this.violations.add('arguments-are-text', `Arguments of call ${index} are not a string.`)
  }

  private checkFinish(index: number, { calls, finish }: Choice): void {
    if (finish === undefined) this.violations.add('finish-present', `Choice ${index} has no finish_reason.`)
    if (calls.length > 0 && finish === 'stop')
      this.violations.add('finish-fits-calls', `Choice ${index} calls tools and finishes with stop.`)
    // Truncated arguments are not JSON.
    if (finish === 'length') return
    for (const [number, { text, isFreeForm }] of calls.entries())
      if (!isFreeForm && text !== '' && parseJson(text) === undefined)
        this.violations.add('arguments-are-text', `Arguments of call ${number} are not JSON: ${text.slice(0, 100)}`)
  }
}

export const grammar = (request: StreamRequest): Grammar => new ChatGrammar(request)
