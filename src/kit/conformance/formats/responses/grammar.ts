import type { Ending, Grammar } from '../../grammar.ts'
import { canonical, isObject, type Json, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'
import { type Violation, Violations } from '../../rules.ts'
import type { SseEvent } from '../../sse.ts'
import { Item } from './assemble.ts'
import { CALLS } from './items.ts'
import { argumentFault, totalFault } from './lint.ts'

/* Checks the order of events in a responses stream. Source: docs/wire/responses.md#order-of-events */

/** Status of the response in each final event. */
const FINAL: { readonly [type: string]: string } = {
  'response.completed': 'completed',
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
}

/** Events that repeat the content of deltas, and the field that contains it. */
const REPEATED_CONTENT: { readonly [type: string]: readonly ['content' | 'summary' | undefined, string] } = {
  'response.output_text.done': ['content', 'text'],
  'response.refusal.done': ['content', 'refusal'],
  'response.reasoning_text.done': ['content', 'text'],
  'response.reasoning_summary_text.done': ['summary', 'text'],
  'response.function_call_arguments.done': [undefined, 'arguments'],
  'response.custom_tool_call_input.done': [undefined, 'input'],
}

/** Event that also repeats the name of its call. */
const NAMED_END = 'response.function_call_arguments.done'

/** Events of a part. They are sent between its start and its end. */
const PART_EVENT = /^response\.(output_text|refusal|reasoning_text|reasoning_summary_text)\./

/** Returns the text of a part. */
const textIn = (part: unknown): Json => objectOf(part)['text'] ?? objectOf(part)['refusal'] ?? ''

/** Returns what a part cites: addresses, titles and positions in its text. */
const citedIn = (part: unknown): Json =>
  listOf(objectOf(part)['annotations'])
    .map(objectOf)
    .map(one => ['url', 'title', 'start_index', 'end_index'].map(field => one[field] ?? null))

/** Returns tokens with their log probabilities and alternatives. */
const logprobsIn = (part: unknown): Json =>
  listOf(objectOf(part)['logprobs'])
    .map(objectOf)
    .map(({ token = null, logprob = null, top_logprobs: top }) => [
      ...[token, logprob],
      listOf(top).map(one => [objectOf(one)['token'] ?? null, objectOf(one)['logprob'] ?? null]),
    ])

/** Returns the content of a part that its end and the end of its item repeat. */
const partContent = (part: unknown): Json => [textIn(part), citedIn(part), logprobsIn(part)]

/**
 * Returns the content of an item as text: parts, calls, searches, ids, and whether encrypted reasoning is there, which
 * varies.
 */
function contentText({ type, content, summary, arguments: args, input, call_id, name, ...item }: JsonObject): string {
  const parts = (list: unknown): Json[] => listOf(list).map(partContent)
  const isEncrypted = Boolean(textOf(item['encrypted_content']))
  return canonical(
    [type, parts(content), parts(summary), args, input, call_id, name, item['action'], isEncrypted].map(
      one => one ?? null,
    ),
  )
}

interface OpenItem {
  readonly id: Json
  /** The item as it began. */
  readonly added: JsonObject
  readonly item: Item
  /** The open part, such as `content 0`. */
  part: string | undefined
}

const partOf = (event: JsonObject): string =>
  event['summary_index'] === undefined ? `content ${event['content_index']}` : `summary ${event['summary_index']}`

class ResponsesGrammar implements Grammar {
  private readonly violations = new Violations()
  private readonly doneItems: string[] = []
  /** Items that have started but are not done, by index. */
  private readonly openItems = new Map<Json, OpenItem>()
  private id: string | undefined
  private count = 0
  /** The sequence number of the next event. */
  private next: number | undefined
  private items = 0
  private final: string | undefined
  private hasFailed = false
  private isDone = false

  event({ name, data: text }: SseEvent, data: Json | undefined): void {
    if (this.isDone) this.violations.add('final-last', 'An event follows [DONE].')
    if (text === '[DONE]') {
      this.isDone = true
      return
    }
    const type = isObject(data) ? textOf(data['type']) : undefined
    if (!isObject(data) || type === undefined)
      return this.violations.add('json', `The data is not an event: ${text.slice(0, 100)}`)
    if (name !== type) this.violations.add('event-name', `An event named ${name ?? 'nothing'} has the type ${type}.`)
    this.checkSequenceNumber(type, data['sequence_number'])
    this.count++
    if (this.final !== undefined) this.violations.add('final-last', `${type} follows ${this.final}.`)
    this.checkType(type, data)
  }

  private checkSequenceNumber(type: string, number: Json | undefined): void {
    const next = this.next ?? number
    if (typeof number !== 'number' || number !== next)
      this.violations.add('sequence', `${type} has the sequence_number ${number} instead of ${next ?? 'a number'}.`)
    this.next = typeof next === 'number' ? next + 1 : undefined
  }

  get ending(): Ending | undefined {
    if (this.hasFailed || this.final === 'response.failed') return 'error'
    return this.final !== undefined ? 'normal' : undefined
  }

  end(isComplete: boolean): readonly Violation[] {
    if (!isComplete || this.hasFailed) return this.violations.list
    if (this.final === undefined) this.violations.add('final-last', 'The stream has no final event.')
    return this.violations.list
  }

  private checkType(type: string, event: JsonObject): void {
    if (this.count === 1 && type !== 'response.created' && type !== 'error')
      this.violations.add('created-first', `${type} comes before response.created.`)
    if (type === 'error') this.error(event)
    else if (isObject(event['response'])) this.lifecycle(type, event['response'])
    else if (type === 'response.output_item.added') this.addItem(event)
    else if (event['output_index'] !== undefined) this.checkItemEvent(type, event)
  }

  /** Checks an error, whose fields stand in the event or, as some clients also read it, in its `error`. */
  private error(event: JsonObject): void {
    this.hasFailed = true
    const { message } = isObject(event['error']) ? event['error'] : event
    if (!textOf(message)) this.violations.add('error-event', `The error is ${JSON.stringify(event).slice(0, 100)}.`)
  }

  private lifecycle(type: string, response: JsonObject): void {
    const id = textOf(response['id'])
    this.id ??= id
    if (id === undefined || id !== this.id)
      this.violations.add('one-id', `${type} has the id ${id} instead of ${this.id}.`)
    if (type === 'response.created' && this.count > 1) this.violations.add('created-first', 'A later response.created.')
    if (type === 'response.created' && (listOf(response['output']).length > 0 || response['usage'] != null))
      this.violations.add('created-first', 'response.created has output or usage.')
    const status = FINAL[type]
    if (status === undefined) return
    this.final = type
    if (response['status'] !== status) this.violations.add('status', `${type} has the status ${response['status']}.`)
    if (status === 'failed') return
    for (const index of this.openItems.keys())
      this.violations.add('item-index', `${type} arrives while item ${index} is open.`)
    if (!isObject(response['usage'])) this.violations.add('usage', `${type} has no usage.`)
    const totals = totalFault(objectOf(response['usage']))
    if (totals !== undefined) this.violations.add('usage-adds-up', totals)
    const finalContent = listOf(response['output']).map(item => contentText(objectOf(item)))
    if (canonical(finalContent) !== canonical(this.doneItems))
      this.violations.add(
        'final-repeats',
        `${type} has ${finalContent.join()}, but the finished items were ${this.doneItems.join()}.`,
      )
  }

  private addItem(event: JsonObject): void {
    const index = event['output_index'] ?? null
    const item = objectOf(event['item'])
    for (const other of this.openItems.keys())
      this.violations.add('item-order', `Item ${index} begins while item ${other} is open.`)
    if (index !== this.items)
      this.violations.add('item-index', `Item ${index} begins, but ${this.items} is the next index.`)
    this.items++
    if (CALLS.has(String(item['type'])) && (!textOf(item['call_id']) || !textOf(item['name'])))
      this.violations.add('call-has-id', `A call begins as ${JSON.stringify(item).slice(0, 200)}`)
    this.openItems.set(index, { id: item['id'] ?? null, added: item, item: new Item(item), part: undefined })
  }

  private checkItemEvent(type: string, event: JsonObject): void {
    const index = event['output_index'] ?? null
    const open = this.openItems.get(index)
    if (open === undefined)
      return this.violations.add('item-index', `${type} refers to item ${index}, which is not open.`)
    const id = event['item_id'] ?? objectOf(event['item'])['id'] ?? open.id
    if (id !== open.id) this.violations.add('item-id', `${type} has the item id ${id} instead of ${open.id}.`)
    this.parts(type, event, open)
    open.item.add(event)
    this.checkRepeatedContent(type, event, open)
    if (type === 'response.output_item.done') this.endItem(index, objectOf(event['item']), open)
  }

  private parts(type: string, event: JsonObject, open: OpenItem): void {
    const part = partOf(event)
    if (type.endsWith('_part.added')) {
      if (open.part !== undefined) this.violations.add('part-order', `${part} begins while ${open.part} is open.`)
      open.part = part
    } else if (type.endsWith('_part.done') || PART_EVENT.test(type)) {
      if (open.part !== part) this.violations.add('part-order', `${type} refers to ${part}, which is not open.`)
      if (type.endsWith('_part.done')) open.part = undefined
    }
  }

  private checkRepeatedContent(type: string, event: JsonObject, { item }: OpenItem): void {
    const [list, field] = REPEATED_CONTENT[type] ?? []
    const isPart = type.endsWith('_part.done')
    if (field === undefined && !isPart) return
    const assembledItem = item.whole()
    const [partList, index] =
      event['summary_index'] === undefined ? ['content', event['content_index']] : ['summary', event['summary_index']]
    const part = listOf(assembledItem[String(partList)])[Number(index)]
    const repeated = field === undefined ? partContent(event['part']) : event[field]
    const streamed =
      field === undefined ? partContent(part) : list === undefined ? assembledItem[field] : objectOf(part)[field]
    const hasName = type === NAMED_END && event['name'] !== undefined
    if (canonical(streamed ?? '') !== canonical(repeated) || (hasName && event['name'] !== assembledItem['name']))
      this.violations.add(
        'done-repeats',
        `${type} says ${JSON.stringify(repeated)}, deltas ${JSON.stringify(streamed)}.`,
      )
    const [logprobs, deltas] = [logprobsIn(event), logprobsIn(part)]
    if (listOf(logprobs).length > 0 && canonical(logprobs) !== canonical(deltas))
      this.violations.add('done-repeats', `${type} has other log probabilities than the deltas.`)
  }

  private endItem(index: Json, item: JsonObject, open: OpenItem): void {
    if (open.part !== undefined) this.violations.add('part-order', `The item is done while ${open.part} is open.`)
    const [finalContent, streamed] = [contentText(item), contentText(open.item.whole())]
    if (finalContent !== streamed)
      this.violations.add('done-repeats', `The finished item has ${finalContent}, but its deltas had ${streamed}.`)
    for (const field of ['type', 'call_id', 'name'])
      if (item[field] !== open.added[field])
        this.violations.add('item-stays', `The item began with the ${field} ${open.added[field]}, not ${item[field]}.`)
    const fault = argumentFault(item)
    if (fault !== undefined && item['status'] !== 'incomplete') this.violations.add('arguments-are-text', fault)
    this.doneItems[Number(index)] = finalContent
    this.openItems.delete(index)
  }
}

export const grammar = (): Grammar => new ResponsesGrammar()
