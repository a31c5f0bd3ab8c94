import type { ReasoningPart } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyObjects, anyText } from '../fields.ts'
import { signatureOfDetails } from './reasoning-details.ts'
import { FORMAT } from './wire.ts'

/** Fields for reasoning text, in the order in which they are tried. `reasoning_details` is tried last. */
const FIELDS = ['reasoning_content', 'reasoning'] as const

interface FoundReasoning {
  readonly text: string
  readonly field: string
}

/** Finds the reasoning in a message or delta: the first of the possible fields that is not empty. */
export function findReasoning(message: JsonObject): FoundReasoning | undefined {
  for (const field of FIELDS) {
    const value = message[field]
    if (typeof value === 'string' && value !== '') return { text: value, field }
    // Heroku nests the text in an object.
    if (isObject(value) && typeof value['thinking'] === 'string') return { text: value['thinking'], field }
  }
  const text = textOfDetails(message['reasoning_details'])
  return text === '' ? undefined : { text, field: 'elsewhere' }
}

/** Returns the text of `reasoning_details`. OpenRouter repeats the reasoning there; Snowflake sends it only there. */
const textOfDetails = (details: Json | undefined): string =>
  anyObjects(details)
    .map(detail => anyText(detail['text']) ?? anyText(detail['summary']) ?? '')
    .join('')

/** An empty reasoning part for `reasoning_content`, the default field. */
export const REASONING_CONTENT_PART: ReasoningPart = { type: 'reasoning', text: '' }
/** An empty reasoning part for `reasoning`. Its spelling makes writers use this field again. */
export const REASONING_PART: ReasoningPart = {
  ...REASONING_CONTENT_PART,
  spelling: { [FORMAT]: { field: 'reasoning' } },
}

/** The reasoning of a whole message. */
export interface MessageReasoning {
  readonly parts: readonly ReasoningPart[]
  /** Fields whose reasoning differs from the field that was read. */
  readonly unread: readonly string[]
}

const NO_REASONING: MessageReasoning = { parts: [], unread: [] }

/** Reads the reasoning of a whole message. An empty string also counts as reasoning. */
export function readMessageReasoning(message: JsonObject): MessageReasoning {
  const { reasoning_content, reasoning, reasoning_details } = message
  if (reasoning_content == null && reasoning == null && reasoning_details == null) return NO_REASONING
  const found = findReasoning(message)
  const signature = signatureOfDetails(reasoning_details)
  const field = found?.field ?? FIELDS.find(name => message[name] === '') ?? (signature && 'elsewhere')
  const repeats = (value: Json | undefined): boolean => value == null || value === '' || value === found?.text
  return {
    parts:
      field === undefined
        ? []
        : [
            {
              ...(field === 'reasoning' ? REASONING_PART : REASONING_CONTENT_PART),
              text: found?.text ?? '',
              ...(signature === undefined ? {} : { signature }),
            },
          ],
    unread: FIELDS.filter(name => name !== field && !repeats(message[name])),
  }
}

/**
 * Reads a reasoning part in a content list and records its wire value as spelling. Returns undefined for any other
 * part.
 */
export function readThinkingPart(wire: JsonObject): ReasoningPart | undefined {
  const text = reasoningText(wire)
  return text === undefined ? undefined : { type: 'reasoning', text, spelling: { [FORMAT]: { value: wire } } }
}

/**
 * Returns the text of a reasoning part, which may be a string or a list of strings, or undefined for any other part.
 */
export function reasoningText({ type, thinking, summary }: JsonObject): string | undefined {
  if (type === 'thinking') return textOf(thinking)
  return type === 'reasoning' ? textOf(summary) : undefined
}

const textOf = (value: Json | undefined): string | undefined =>
  Array.isArray(value)
    ? anyObjects(value)
        .map(item => anyText(item['text']) ?? '')
        .join('')
    : anyText(value)
