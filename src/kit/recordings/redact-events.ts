import { hasFields, parseCallData } from '../../canonical/exact-numbers.ts'
import { getOrAdd } from '../../canonical/maps.ts'
import type { Json } from '../../canonical/node.ts'
import { hasRepeatedFields } from '../../canonical/repeated-fields.ts'
import { NamedFields } from '../../config/recording-rules.ts'
import { withRedactedTokens } from './redact-tokens.ts'
import type { Redaction } from './redaction.ts'

/** Fields that distinguish the parts of an answer. Deltas of the same part have the same values. */
const IDENTITY_FIELDS = ['type', 'index', 'output_index', 'content_index', 'summary_index', 'item_id'] as const

/**
 * Redacts the payloads of a stream's events. Texts at the same path of successive events are joined, redacted and split
 * again, so that a secret spread over several deltas is found.
 */
export function redactedEvents(payloads: readonly string[], redaction: Redaction): readonly string[] {
  const parsed = payloads.map(payload => (/^\s*[[{]/.test(payload) ? parseCallData(payload) : undefined))
  const values = withRedactedTokens(parsed, redaction)
  const [root, plain] = [new Lane(redaction, redaction.fields), new Lane(redaction, NamedFields.NONE)]
  for (const [event, value] of values.entries())
    if (value === undefined) plain.add(payloads[event]!)
    else eachText(value, root)
  const names = new Names(redaction)
  return payloads.map((payload, event) => {
    const value = values[event]
    if (value === undefined) return plain.next()
    const rewritten = JSON.stringify(withNewTexts(value, root, names))
    if (rewritten === payload) return payload
    const isClean = rewritten === JSON.stringify(parsed[event]) && !hasRepeatedFields(payload, value)
    return isClean ? payload : rewritten
  })
}

/** The texts at one place of the events, in order, and the places inside it. */
class Lane {
  /** True if a rule names the place or one that contains it. */
  readonly isHidden: boolean
  private readonly redaction: Redaction
  private readonly named: NamedFields
  private readonly texts: string[] = []
  private readonly fields = new Map<string, Lane>()
  private readonly identities = new Map<string, Lane>()
  private redacted: readonly string[] | undefined
  private position = 0

  constructor(redaction: Redaction, named: NamedFields, isHidden = false) {
    this.redaction = redaction
    this.named = named
    this.isHidden = isHidden || named.isNamed
  }

  /** Returns the lane of a field or item. */
  at(name: string): Lane {
    return getOrAdd(this.fields, name, () => new Lane(this.redaction, this.named.inner(name), this.isHidden))
  }

  /** Returns the lane of objects at this place with an identity. */
  of(identity: string): Lane {
    if (identity === '') return this
    return getOrAdd(this.identities, identity, () => new Lane(this.redaction, this.named, this.isHidden))
  }

  add(text: string): void {
    this.texts.push(text)
  }

  /** Returns the next text, redacted. */
  next(): string {
    this.redacted ??= this.isHidden
      ? this.texts.map((text, index) => (index === 0 ? String(this.redaction.hidden(text)) : ''))
      : this.redaction.pieces(this.texts)
    return this.redacted[this.position++]!
  }
}

/** Adds every text of a value to its lane. */
function eachText(value: Json, lane: Lane): void {
  if (typeof value === 'string') lane.add(value)
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) eachText(item, lane.at(String(index)))
  else if (hasFields(value)) {
    const inner = lane.of(identityOf(value))
    for (const [name, item] of Object.entries(value)) eachText(item, inner.at(name))
  }
}

/** Copies a value with the redacted texts of the lanes, in the order of `eachText`. */
function withNewTexts(value: Json, lane: Lane, names: Names): Json {
  if (typeof value === 'string') return lane.next()
  if (Array.isArray(value)) return value.map((item, index) => withNewTexts(item, lane.at(String(index)), names))
  if (!hasFields(value)) return lane.isHidden ? names.redaction.hidden(value) : value
  const inner = lane.of(identityOf(value))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [names.of(name), withNewTexts(item, inner.at(name), names)]),
  )
}

/** Redacts names of fields, each of them once, because all events of a stream have the same. */
class Names {
  readonly redaction: Redaction
  private readonly redacted = new Map<string, string>()

  constructor(redaction: Redaction) {
    this.redaction = redaction
  }

  of(name: string): string {
    return getOrAdd(this.redacted, name, () => this.redaction.text(name))
  }
}

/** Returns the identity of an object. Identities are short: an object or list in one of the fields is none. */
function identityOf(value: { readonly [name: string]: Json }): string {
  let identity = ''
  for (const name of IDENTITY_FIELDS) {
    const field = value[name]
    if (field !== undefined && (typeof field !== 'object' || field === null))
      identity += `(${name}=${typeof field === 'number' ? field : JSON.stringify(field)})`
  }
  return identity
}
