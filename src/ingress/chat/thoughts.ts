import type { ReasoningPart } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyObjects, anyText, defined } from '../fields.ts'

const FORMAT = 'chat'

/** The fields reasoning is written back to; reasoning read elsewhere stays there, among the message's extras. */
const FIELDS = ['reasoning_content', 'reasoning'] as const

interface Thought {
  readonly text: string
  readonly field: string
  /** The wire value, where it was more than the text. */
  readonly value?: JsonObject
}

/** The reasoning of a message or a delta, from the first of its possible fields that is not empty. */
export function thoughtIn(message: JsonObject): Thought | undefined {
  for (const field of FIELDS) {
    const value = message[field]
    if (typeof value === 'string' && value !== '') return { text: value, field }
    // Heroku's shape.
    if (isObject(value) && typeof value['thinking'] === 'string') return { text: value['thinking'], field, value }
  }
  const text = textOfDetails(message['reasoning_details'])
  return text === '' ? undefined : { text, field: 'elsewhere' }
}

/** OpenRouter repeats reasoning in a list of details, Snowflake has it there alone. */
const textOfDetails = (details: Json | undefined): string =>
  anyObjects(details)
    .map(detail => anyText(detail['text']) ?? anyText(detail['summary']) ?? '')
    .join('')

/** What a whole message has of reasoning. */
export interface Thoughts {
  readonly parts: readonly ReasoningPart[]
  /** Fields that repeat the one that was read, or are empty. */
  readonly duplicates: readonly string[]
  /** Fields that differ from it. */
  readonly unread: readonly string[]
}

const NONE: Thoughts = { parts: [], duplicates: [], unread: [] }

/** The reasoning of a whole message; an empty one counts, too. */
export function readThoughts(message: JsonObject): Thoughts {
  const { reasoning_content, reasoning, reasoning_details } = message
  if (reasoning_content == null && reasoning == null && reasoning_details == null) return NONE
  const thought = thoughtIn(message)
  const field = thought?.field ?? FIELDS.find(name => message[name] === '')
  const isDuplicate = (name: string): boolean => message[name] === '' || message[name] === thought?.text
  const others = FIELDS.filter(name => name !== field && message[name] != null)
  return {
    parts: field === undefined ? [] : [partOf(field, thought)],
    duplicates: others.filter(isDuplicate),
    unread: others.filter(name => !isDuplicate(name)),
  }
}

function partOf(field: string, thought: Thought | undefined): ReasoningPart {
  const { text = '', value } = thought ?? {}
  const spelt = field === FIELDS[0] && value === undefined ? {} : { spelling: { [FORMAT]: defined({ field, value }) } }
  return { type: 'reasoning', text, ...spelt }
}

/** A content part that is reasoning, with its wire value as spelling; undefined for any other part. */
export function readThinkingPart(wire: JsonObject): ReasoningPart | undefined {
  const text = thoughtOf(wire)
  return text === undefined
    ? undefined
    : { type: 'reasoning', text, spelling: { [FORMAT]: { as: 'thinking', value: wire } } }
}

/** The text of a content part that is reasoning: a string, or a list of texts. */
export function thoughtOf({ type, thinking, summary }: JsonObject): string | undefined {
  if (type === 'thinking') return textOf(thinking)
  return type === 'reasoning' ? textOf(summary) : undefined
}

const textOf = (value: Json | undefined): string | undefined =>
  Array.isArray(value)
    ? anyObjects(value)
        .map(item => anyText(item['text']) ?? '')
        .join('')
    : anyText(value)
