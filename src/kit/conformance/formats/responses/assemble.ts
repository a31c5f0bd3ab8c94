import { type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'

/*
 * Assembles the deltas of a stream into a response. The final event, which repeats the content, is not used. Source:
 * docs/wire/responses.md#stream
 */

type Fields = { [field: string]: Json }

/** Lists of parts in an item, and the event field with the part's index. */
const PART_LISTS = { content: 'content_index', summary: 'summary_index' } as const
type List = keyof typeof PART_LISTS

/** Deltas of a part: the list of the part, and the field to append to. */
const PART_DELTAS: { readonly [type: string]: readonly [List, string] } = {
  'response.output_text.delta': ['content', 'text'],
  'response.refusal.delta': ['content', 'refusal'],
  'response.reasoning_text.delta': ['content', 'text'],
  'response.reasoning.delta': ['content', 'text'],
  'response.reasoning_summary_text.delta': ['summary', 'text'],
}

/** Deltas of an item: the field to append to. */
const ITEM_DELTAS: { readonly [type: string]: string } = {
  'response.function_call_arguments.delta': 'arguments',
  'response.custom_tool_call_input.delta': 'input',
}

const PARTS: { readonly [type: string]: List } = {
  'response.content_part.added': 'content',
  'response.reasoning_summary_part.added': 'summary',
}

/** One item under construction. Its parts are identified by index. */
export class Item {
  readonly fields: Fields
  readonly parts: { readonly [list in List]: Map<number, Fields> } = { content: new Map(), summary: new Map() }
  private readonly appendedFields: Fields = {}

  constructor(item: JsonObject) {
    this.fields = { ...item }
  }

  /** Adds an event of this item. */
  add(event: JsonObject): void {
    const type = textOf(event['type']) ?? ''
    const delta = textOf(event['delta']) ?? ''
    const [list, field] = PART_DELTAS[type] ?? []
    if (list !== undefined && field !== undefined) {
      const part = this.part(list, event)
      part[field] = (textOf(part[field]) ?? '') + delta
      if (listOf(event['logprobs']).length > 0)
        part['logprobs'] = listOf(part['logprobs']).concat(listOf(event['logprobs']))
    } else if (ITEM_DELTAS[type] !== undefined) {
      const name = ITEM_DELTAS[type]
      this.appendedFields[name] = (textOf(this.appendedFields[name]) ?? '') + delta
    } else if (PARTS[type] !== undefined) Object.assign(this.part(PARTS[type], event), objectOf(event['part']))
    else if (type === 'response.output_text.annotation.added') {
      const part = this.part('content', event)
      part['annotations'] = [...listOf(part['annotations']), event['annotation'] ?? null]
    } else if (type === 'response.output_item.done') this.done(objectOf(event['item']))
  }

  whole(): JsonObject {
    const partLists = Object.entries(this.parts).filter(([, parts]) => parts.size > 0)
    const lists = partLists.map(([list, parts]) => [list, [...parts].sort(([a], [b]) => a - b).map(([, part]) => part)])
    return { ...this.fields, ...Object.fromEntries(lists), ...this.appendedFields }
  }

  /** Takes over fields that are not streamed, and items without deltas, from the finished item. */
  private done(item: JsonObject): void {
    Object.assign(this.fields, item)
  }

  private part(list: List, event: JsonObject): Fields {
    const index = numberOf(event[PART_LISTS[list]]) ?? 0
    const part = this.parts[list].get(index) ?? {}
    this.parts[list].set(index, part)
    return part
  }
}

/** Assembles a stream's events into a response. */
export function assemble(events: readonly Json[]): JsonObject {
  let response: JsonObject = {}
  const items = new Map<number, Item>()
  for (const event of events.map(objectOf)) {
    const index = numberOf(event['output_index'])
    if (event['response'] !== undefined) response = objectOf(event['response'])
    else if (index === undefined) continue
    else if (event['type'] === 'response.output_item.added') items.set(index, new Item(objectOf(event['item'])))
    else items.get(index)?.add(event)
  }
  if (items.size === 0) return response
  const output = [...items].sort(([a], [b]) => a - b).map(([, item]) => item.whole())
  return { ...response, output }
}
