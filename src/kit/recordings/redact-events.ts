import { getOrAdd } from '../../canonical/maps.ts'
import { isObject, type Json, parseJson } from '../../canonical/node.ts'
import type { Redaction } from './redaction.ts'

/** Fields that distinguish the parts of an answer. Deltas of the same part have the same values. */
const IDENTITY_FIELDS = ['type', 'index', 'output_index', 'content_index', 'summary_index', 'item_id'] as const

/** One text in one event. */
interface Leaf {
  readonly event: number
  readonly text: string
}

/**
 * Redacts the payloads of a stream's events. Texts at the same path of successive events are joined, redacted and split
 * again, so that a secret spread over several deltas is found.
 */
export function redactedEvents(payloads: readonly string[], redaction: Redaction): readonly string[] {
  const values = payloads.map(payload => (/^\s*[[{]/.test(payload) ? parseJson(payload) : undefined))
  const lanes = new Map<string, Leaf[]>()
  for (const [event, value] of values.entries())
    if (value === undefined) addTo(lanes, 'text', { event, text: payloads[event]! })
    else eachText(value, '', [], (lane, path, text) => addTo(lanes, laneOf(lane, path, redaction), { event, text }))
  const redacted = new Map([...lanes].map(([lane, leaves]) => [lane, new Lane(lane, leaves, redaction)]))
  return payloads.map((payload, event) => {
    const value = values[event]
    if (value === undefined) return redacted.get('text')!.next()
    const rewritten = withNewTexts(
      value,
      '',
      [],
      (lane, path) => redacted.get(laneOf(lane, path, redaction))!.next(),
      redaction,
    )
    return JSON.stringify(rewritten) === JSON.stringify(value) ? payload : JSON.stringify(rewritten)
  })
}

const HIDDEN_PREFIX = 'hidden '

const laneOf = (lane: string, path: readonly string[], redaction: Redaction): string =>
  isHidden(path, redaction) ? HIDDEN_PREFIX + lane : lane

/** Returns true if a rule names the field or a field that contains it. */
const isHidden = (path: readonly string[], redaction: Redaction): boolean =>
  path.some((_, index) => redaction.hides(path.slice(0, index + 1)))

function addTo(lanes: Map<string, Leaf[]>, lane: string, leaf: Leaf): void {
  getOrAdd(lanes, lane, (): Leaf[] => []).push(leaf)
}

/** The redacted texts of one lane, in order. */
class Lane {
  private readonly texts: readonly string[]
  private at = 0

  constructor(name: string, leaves: readonly Leaf[], redaction: Redaction) {
    const pieces = leaves.map(({ text }) => text)
    this.texts = name.startsWith(HIDDEN_PREFIX)
      ? pieces.map((piece, index) => (index === 0 ? String(redaction.hidden(piece)) : ''))
      : redaction.pieces(pieces)
  }

  next(): string {
    return this.texts[this.at++]!
  }
}

/** Calls back with every text of a value, the lane of the text, and its path. */
function eachText(
  value: Json,
  lane: string,
  path: readonly string[],
  each: (lane: string, path: readonly string[], text: string) => void,
): void {
  if (typeof value === 'string') each(lane, path, value)
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) eachText(item, `${lane}/${index}`, [...path, String(index)], each)
  else if (isObject(value)) {
    const innerLane = lane + identityOf(value)
    for (const [name, item] of Object.entries(value)) eachText(item, `${innerLane}/${name}`, [...path, name], each)
  }
}

/** Copies a value with different texts, in the order of `eachText`. */
function withNewTexts(
  value: Json,
  lane: string,
  path: readonly string[],
  text: (lane: string, path: readonly string[]) => string,
  redaction: Redaction,
): Json {
  if (typeof value === 'string') return text(lane, path)
  if (Array.isArray(value))
    return value.map((item, index) => withNewTexts(item, `${lane}/${index}`, [...path, String(index)], text, redaction))
  if (!isObject(value)) return isHidden(path, redaction) ? redaction.hidden(value) : value
  const innerLane = lane + identityOf(value)
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      redaction.text(name),
      withNewTexts(item, `${innerLane}/${name}`, [...path, name], text, redaction),
    ]),
  )
}

const identityOf = (value: { readonly [name: string]: Json }): string =>
  IDENTITY_FIELDS.filter(name => value[name] !== undefined)
    .map(name => `(${name}=${JSON.stringify(value[name])})`)
    .join('')
