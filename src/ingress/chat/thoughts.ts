import type { ReasoningPart } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyObjects, anyText, defined } from '../fields.ts'

const FORMAT = 'chat'

/** The fields a thought is written back to; one that stood elsewhere stays there, among what is left of the message. */
const FIELDS = ['reasoning_content', 'reasoning'] as const

interface Thought {
  readonly text: string
  readonly field: string
  /** How it was told, where that was not the text alone. */
  readonly value?: JsonObject
}

/** What a message or a delta tells of thoughts, of the names upstreams have for them the first that says anything. */
export function thoughtIn(message: JsonObject): Thought | undefined {
  for (const field of FIELDS) {
    const told = message[field]
    if (typeof told === 'string' && told !== '') return { text: told, field }
    // Heroku's way.
    if (isObject(told) && typeof told['thinking'] === 'string') return { text: told['thinking'], field, value: told }
  }
  const text = wordsOfDetails(message['reasoning_details'])
  return text === '' ? undefined : { text, field: 'elsewhere' }
}

/** OpenRouter tells thoughts in a list of details as well, Snowflake there alone. */
const wordsOfDetails = (details: Json | undefined): string =>
  anyObjects(details)
    .map(detail => anyText(detail['text']) ?? anyText(detail['summary']) ?? '')
    .join('')

/** What a whole message tells of its thought. */
export interface Thoughts {
  readonly parts: readonly ReasoningPart[]
  /** Fields that say the same as the one that was read, or nothing. */
  readonly twins: readonly string[]
  /** Fields that say something else. */
  readonly unread: readonly string[]
}

const NONE: Thoughts = { parts: [], twins: [], unread: [] }

/** The thought of a whole message; an empty one is told, too. */
export function readThoughts(message: JsonObject): Thoughts {
  const { reasoning_content, reasoning, reasoning_details } = message
  if (reasoning_content == null && reasoning == null && reasoning_details == null) return NONE
  const thought = thoughtIn(message)
  const field = thought?.field ?? FIELDS.find(name => message[name] === '')
  const isTwin = (name: string): boolean => message[name] === '' || message[name] === thought?.text
  const others = FIELDS.filter(name => name !== field && message[name] != null)
  return {
    parts: field === undefined ? [] : [partOf(field, thought)],
    twins: others.filter(isTwin),
    unread: others.filter(name => !isTwin(name)),
  }
}

function partOf(field: string, thought: Thought | undefined): ReasoningPart {
  const { text = '', value } = thought ?? {}
  const spelt = field === FIELDS[0] && value === undefined ? {} : { spelling: { [FORMAT]: defined({ field, value }) } }
  return { type: 'reasoning', text, ...spelt }
}

/** A piece of content that is a thought, and how it was put; undefined for any other piece. */
export function readThinkingPart(wire: JsonObject): ReasoningPart | undefined {
  const text = thoughtOf(wire)
  return text === undefined
    ? undefined
    : { type: 'reasoning', text, spelling: { [FORMAT]: { as: 'thinking', value: wire } } }
}

/** The words of a piece of content that is a thought: a text, or a list of them. */
export function thoughtOf({ type, thinking, summary }: JsonObject): string | undefined {
  if (type === 'thinking') return wordsOf(thinking)
  return type === 'reasoning' ? wordsOf(summary) : undefined
}

const wordsOf = (said: Json | undefined): string | undefined =>
  Array.isArray(said)
    ? anyObjects(said)
        .map(piece => anyText(piece['text']) ?? '')
        .join('')
    : anyText(said)
