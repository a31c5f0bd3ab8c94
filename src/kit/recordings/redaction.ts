import { hasFields, isRawNumber } from '../../canonical/exact-numbers.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { NamedFields, parseRule, type Rule } from '../../config/recording-rules.ts'
import { patternOf } from '../secret-pattern.ts'
import { base64Edits } from './base64-runs.ts'
import { applyEdits, type Edit, mergedEdits } from './splice.ts'

/** Placeholder for text that a recording must not contain. */
export const REDACTED = '[redacted]'

/** Maximum number of passes over a text. A text that still matches a rule afterwards is removed as a whole. */
const MAX_PASSES = 100
/** Maximum number of encodings in base64 around each other whose content is searched. */
const MAX_DEPTH = 4

/**
 * Removes secrets from texts and JSON. Redaction is idempotent, so that a recorded request and the original request
 * have the same match key.
 */
export class Redaction {
  private readonly rules: readonly string[]
  private readonly patterns: readonly RegExp[]
  /** Fields that path rules name. */
  readonly fields: NamedFields
  private readonly secrets: readonly RegExp[]
  private readonly placeholder: string
  private readonly maxDepth: number

  /**
   * @param rules rules of `--redact` or `--ignore`.
   * @param secrets patterns of secrets that the request itself contains.
   * @param maxDepth maximum number of encodings in base64 whose content is searched. 0 searches none.
   */
  constructor(rules: readonly string[], secrets: readonly RegExp[] = [], placeholder = REDACTED, maxDepth = MAX_DEPTH) {
    this.rules = rules
    const parsed: readonly Rule[] = rules.map(parseRule)
    this.patterns = [...secrets, ...parsed.flatMap(rule => ('pattern' in rule ? [rule.pattern] : []))]
    this.fields = new NamedFields(parsed.flatMap(rule => ('path' in rule ? [rule.path] : [])))
    this.secrets = secrets
    this.placeholder = placeholder
    this.maxDepth = maxDepth
  }

  /** Returns a redaction that also removes the given secrets. */
  withSecrets(secrets: readonly string[]): Redaction {
    const pattern = patternOf(secrets)
    if (pattern === undefined) return this
    return new Redaction(this.rules, [...this.secrets, pattern], this.placeholder, this.maxDepth)
  }

  text(text: string): string {
    return this.redacted([text], 0)[0]!
  }

  private atDepth(depth: number): (text: string) => string {
    return text => this.redacted([text], depth)[0]!
  }

  /** Redacts the concatenation of pieces and splits it again, so that a secret spread over several pieces is found. */
  pieces(pieces: readonly string[]): readonly string[] {
    return this.redacted(pieces, 0)
  }

  /** @param depth number of encodings in base64 around the pieces. */
  private redacted(pieces: readonly string[], depth: number): readonly string[] {
    if (this.patterns.length === 0) return pieces
    let redacted = pieces
    // A replacement may create the start of a text, which `^` matches. Each pass leaves less to replace.
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      const edits = this.editsOf(redacted.join(''), depth)
      if (edits.length === 0) return redacted
      redacted = applyEdits(redacted, edits)
    }
    return pieces.map((_, index) => (index === 0 ? this.placeholder : ''))
  }

  /** Copies a value without the fields named by path rules. */
  without(value: Json, fields = this.fields): Json {
    if (fields.isEmpty || typeof value !== 'object' || value === null) return value
    const copied = Object.entries(value as JsonObject).flatMap(([name, item]) => {
      const inner = fields.inner(name)
      return inner.isNamed ? [] : [[name, this.without(item, inner)] as const]
    })
    return Array.isArray(value) ? copied.map(([, item]) => item) : Object.fromEntries(copied)
  }

  /** Redacts every text and field name. The shape stays the same. */
  json(value: Json, fields = this.fields, isHidden = false): Json {
    const hidden = isHidden || fields.isNamed
    if (Array.isArray(value)) return value.map((item, index) => this.json(item, fields.inner(String(index)), hidden))
    if (hasFields(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, item]) => [this.text(name), this.json(item, fields.inner(name), hidden)]),
      )
    if (hidden) return this.hidden(value)
    return typeof value === 'string' ? this.text(value) : value
  }

  /** Replaces a value by one of the same type. */
  hidden<T extends Json>(value: T): Json {
    if (typeof value === 'string') return value === '' ? value : this.placeholder
    return typeof value === 'number' || isRawNumber(value) ? 0 : typeof value === 'boolean' ? false : value
  }

  private editsOf(text: string, depth: number): readonly Edit[] {
    const edits: Edit[] = []
    let offset = 0
    for (const segment of text.split(this.placeholder)) {
      for (const pattern of this.patterns)
        for (const { 0: found, index } of segment.matchAll(pattern))
          if (found !== '')
            edits.push({ start: offset + index, end: offset + index + found.length, text: this.placeholder })
      const content = { nested: this.atDepth(depth + 1), plain: this.atDepth(MAX_DEPTH) }
      for (const edit of depth < this.maxDepth ? base64Edits(segment, content) : [])
        edits.push({ start: offset + edit.start, end: offset + edit.end, text: edit.text })
      offset += segment.length + this.placeholder.length
    }
    return mergedEdits(edits)
  }
}
