import { canonical, type JsonObject, listOf, objectOf, parseJson, textOf } from '../../json.ts'
import { BASE64 } from '../../media/base64.ts'
import type { Violations } from '../../rules.ts'

/* Tracks one response while its events arrive. */

interface PartState {
  /** Deltas received so far, by kind: `text`, `transcript`, `audio`. */
  readonly deltas: Map<string, string>
  readonly done: Set<string>
  isDone: boolean
}

interface ItemState {
  readonly index: unknown
  readonly callId: string | undefined
  /** Type and name with which the item began. */
  readonly head: string
  readonly parts: Map<string, PartState>
  args: string
  areArgsDone: boolean
  isCreated: boolean
  final?: JsonObject
}

/** Returns arguments in canonical JSON, because services reformat them. */
const argumentsIn = (item: JsonObject): string =>
  canonical(parseJson(textOf(item['arguments']) ?? '') ?? item['arguments'] ?? '')

/** Returns the type of an item and the name of its call, as text. */
const headOf = ({ type, name }: JsonObject): string => [type, name].filter(one => one !== undefined).join(' ')

/** Returns the text of an item's parts. */
const textsIn = (item: JsonObject): string[] =>
  listOf(item['content']).map(part => textOf(objectOf(part)['text']) ?? textOf(objectOf(part)['transcript']) ?? '')

/** Returns true if two versions of an item agree. Some services omit text in one of them. */
export function areEquivalent(one: JsonObject, other: JsonObject): boolean {
  const heads = [one, other].map(item => canonical([item['type'], item['name'], item['call_id'], argumentsIn(item)]))
  const [texts, others] = [textsIn(one), textsIn(other)]
  return heads[0] === heads[1] && texts.every((text, at) => text === '' || !others[at] || text === others[at])
}

/** Checks the events of one response. */
export class ResponseState {
  readonly id: string
  private readonly items = new Map<string, ItemState>()
  private readonly violations: Violations

  constructor(id: string, violations: Violations) {
    this.id = id
    this.violations = violations
  }

  itemAdded(data: JsonObject): void {
    const item = objectOf(data['item'])
    const index = data['output_index']
    if (index !== this.items.size)
      this.violations.add('item.index', `Item ${this.items.size} of ${this.id} has output_index ${String(index)}.`)
    this.items.set(textOf(item['id']) ?? '', {
      ...{ index, callId: textOf(item['call_id']), head: headOf(item), parts: new Map() },
      ...{ args: '', areArgsDone: false, isCreated: false },
    })
  }

  /** Records that the conversation announced an item. */
  created(id: string): void {
    const item = this.items.get(id)
    if (item !== undefined) item.isCreated = true
  }

  itemDone(data: JsonObject): void {
    const final = objectOf(data['item'])
    const id = textOf(final['id']) ?? ''
    const item = this.items.get(id)
    if (item === undefined) return this.violations.add('item.done', `${id} was never added.`)
    item.final = final
    if (headOf(final) !== item.head)
      this.violations.add('item.done', `${id} began as ${item.head}, not ${headOf(final)}.`)
    for (const [index, part] of item.parts) this.endPart(id, index, part)
    if (final['type'] !== 'function_call') return
    if (!item.areArgsDone) this.violations.add('arguments.done', `The arguments of ${id} have no done event.`)
    else if (argumentsIn(final) !== argumentsIn({ arguments: item.args }))
      this.violations.add('arguments.done', `${id} ends with arguments that differ from its events.`)
  }

  partAdded(data: JsonObject): void {
    this.itemOf(data)?.parts.set(String(data['content_index']), { deltas: new Map(), done: new Set(), isDone: false })
  }

  partDone(data: JsonObject): void {
    const part = this.partOf(data)
    if (part === undefined) return
    part.isDone = true
    const { text, transcript } = objectOf(data['part'])
    for (const [kind, value] of Object.entries({ text, transcript }))
      if (typeof value === 'string' && value !== '' && part.done.has(kind) && value !== part.deltas.get(kind))
        this.violations.add('part.done', `The ${kind} of the part differs from its events: ${JSON.stringify(value)}.`)
  }

  delta(kind: string, data: JsonObject): void {
    const part = this.partOf(data)
    const delta = textOf(data['delta']) ?? ''
    if (kind === 'audio' && !BASE64.test(delta)) this.violations.add('audio.base64', delta.slice(0, 80))
    if (part === undefined) return
    if (part.done.has(kind)) this.violations.add('text.done', `A ${kind} delta follows its done event.`)
    part.deltas.set(kind, kind === 'audio' ? 'some' : (part.deltas.get(kind) ?? '') + delta)
  }

  deltasDone(kind: string, data: JsonObject): void {
    const part = this.partOf(data)
    if (part === undefined) return
    part.done.add(kind)
    if (kind === 'audio') return
    const fullText = textOf(data[kind]) ?? ''
    const sum = part.deltas.get(kind) ?? ''
    if (sum !== fullText)
      this.violations.add('text.done', `Deltas add up to ${JSON.stringify(sum)}, not ${JSON.stringify(fullText)}.`)
    part.deltas.set(kind, fullText)
  }

  argumentsDelta(data: JsonObject): void {
    const item = this.itemOf(data)
    if (item === undefined) return
    this.callId(item, data)
    item.args += textOf(data['delta']) ?? ''
  }

  argumentsDone(data: JsonObject): void {
    const item = this.itemOf(data)
    if (item === undefined) return
    this.callId(item, data)
    const fullText = textOf(data['arguments']) ?? ''
    item.areArgsDone = true
    const name = textOf(data['name'])
    if (name !== undefined && !item.head.endsWith(` ${name}`))
      this.violations.add('arguments.done', `The done event names ${name}, not the item’s ${item.head}.`)
    if (item.args !== fullText)
      this.violations.add('arguments.done', `Deltas add up to ${JSON.stringify(item.args)}, not ${fullText}.`)
    item.args = fullText
  }

  /** Checks the end of the response. A cancelled or failed response may leave items unfinished. */
  end(response: JsonObject): void {
    const isComplete = response['status'] === 'completed'
    const output = listOf(response['output']).map(objectOf)
    for (const [id, item] of this.items) {
      if (!item.isCreated) this.violations.add('item.created', `No event of the conversation announces ${id}.`)
      if (!isComplete) continue
      if (item.final === undefined) this.violations.add('item.done', `${id} has no response.output_item.done.`)
      const finalItem = output.find(one => one['id'] === id)
      if (finalItem === undefined) this.violations.add('response.output', `${id} is missing.`)
      else if (item.final !== undefined && !areEquivalent(finalItem, item.final))
        this.violations.add('response.output', `${id} differs from its response.output_item.done.`)
    }
    const order = output.map(({ id }) => textOf(id) ?? '')
    const known = order.filter(id => this.items.has(id))
    const expected = [...this.items.keys()].filter(id => known.includes(id))
    if (new Set(order).size < order.length) this.violations.add('response.output', `${order.join(', ')} has one twice.`)
    else if (expected.some((id, at) => id !== known[at]))
      this.violations.add('response.output', `${order.join(', ')} is not the order of the items.`)
    for (const { id } of output)
      if (!this.items.has(textOf(id) ?? '')) this.violations.add('response.output', `${String(id)} was never added.`)
  }

  private endPart(id: string, index: string, { deltas, done, isDone }: PartState): void {
    if (!isDone) this.violations.add('part.done', `Part ${index} of ${id} has no done event.`)
    for (const kind of deltas.keys())
      if (!done.has(kind))
        this.violations.add(kind === 'audio' ? 'audio.done' : 'text.done', `The ${kind} of ${id} has no done event.`)
  }

  private callId({ callId }: ItemState, data: JsonObject): void {
    if (data['call_id'] !== callId)
      this.violations.add('call-id', `${String(data['call_id'])} is not the item’s ${String(callId)}.`)
  }

  private itemOf(data: JsonObject): ItemState | undefined {
    const id = textOf(data['item_id']) ?? ''
    const item = this.items.get(id)
    if (item === undefined) this.violations.add('item.added', `${String(data['type'])} belongs to no item: ${id}.`)
    return item
  }

  private partOf(data: JsonObject): PartState | undefined {
    const item = this.itemOf(data)
    const part = item?.parts.get(String(data['content_index']))
    if (item !== undefined && part === undefined)
      this.violations.add('part.added', `${String(data['type'])} belongs to no part.`)
    return part
  }
}
