import type { ReasoningPart } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyObjects, anyText } from '../fields.ts'
import { FORMAT } from './wire.ts'

/** The fields of reasoning; reasoning read elsewhere stays there, among the message's extras. */
const FIELDS = ['reasoning_content', 'reasoning'] as const

interface Thought {
  readonly text: string
  readonly field: string
}

/** The reasoning of a message or a delta, from the first of its possible fields that is not empty. */
export function thoughtIn(message: JsonObject): Thought | undefined {
  for (const field of FIELDS) {
    const value = message[field]
    if (typeof value === 'string' && value !== '') return { text: value, field }
    // Heroku's shape.
    if (isObject(value) && typeof value['thinking'] === 'string') return { text: value['thinking'], field }
  }
  const text = textOfDetails(message['reasoning_details'])
  return text === '' ? undefined : { text, field: 'elsewhere' }
}

/** OpenRouter repeats reasoning in a list of details, Snowflake has it there alone. */
const textOfDetails = (details: Json | undefined): string =>
  anyObjects(details)
    .map(detail => anyText(detail['text']) ?? anyText(detail['summary']) ?? '')
    .join('')

/** Reasoning of the two fields: it is written back to its own. */
export const NAMED: ReasoningPart = { type: 'reasoning', text: '' }
export const BARE: ReasoningPart = { ...NAMED, spelling: { [FORMAT]: { field: 'reasoning' } } }

/** What a whole message has of reasoning. */
export interface Thoughts {
  readonly parts: readonly ReasoningPart[]
  /** Fields that differ from the one that was read. */
  readonly unread: readonly string[]
}

const NONE: Thoughts = { parts: [], unread: [] }

/** The reasoning of a whole message; an empty one counts, too. */
export function readThoughts(message: JsonObject): Thoughts {
  const { reasoning_content, reasoning, reasoning_details } = message
  if (reasoning_content == null && reasoning == null && reasoning_details == null) return NONE
  const thought = thoughtIn(message)
  const field = thought?.field ?? FIELDS.find(name => message[name] === '')
  const repeats = (value: Json | undefined): boolean => value == null || value === '' || value === thought?.text
  return {
    parts: field === undefined ? [] : [{ ...(field === 'reasoning' ? BARE : NAMED), text: thought?.text ?? '' }],
    unread: FIELDS.filter(name => name !== field && !repeats(message[name])),
  }
}

/** A content part that is reasoning, with its wire value as spelling; undefined for any other part. */
export function readThinkingPart(wire: JsonObject): ReasoningPart | undefined {
  const text = thoughtOf(wire)
  return text === undefined ? undefined : { type: 'reasoning', text, spelling: { [FORMAT]: { value: wire } } }
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
