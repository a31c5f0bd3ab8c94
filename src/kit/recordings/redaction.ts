import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { base64Edits } from './base64-runs.ts'
import { matchesPath, parseRule, type Rule } from './rules.ts'
import { applyEdits, type Edit, mergedEdits } from './splice.ts'

/** Placeholder for text that a recording must not contain. */
export const REDACTED = '[redacted]'

/**
 * Removes secrets from texts and JSON. Redaction is idempotent, so that a recorded request and the original request
 * have the same match key.
 */
export class Redaction {
  private readonly patterns: readonly RegExp[]
  private readonly paths: readonly (readonly string[])[]
  private readonly placeholder: string

  /**
   * @param rules rules of `--redact` or `--ignore`.
   * @param secrets patterns of secrets that the request itself contains.
   */
  constructor(rules: readonly string[], secrets: readonly RegExp[] = [], placeholder = REDACTED) {
    const parsed: readonly Rule[] = rules.map(parseRule)
    this.patterns = [...secrets, ...parsed.flatMap(rule => ('pattern' in rule ? [rule.pattern] : []))]
    this.paths = parsed.flatMap(rule => ('path' in rule ? [rule.path] : []))
    this.placeholder = placeholder
  }

  text(text: string): string {
    return this.pieces([text])[0]!
  }

  /** Redacts the concatenation of pieces and splits it again, so that a secret spread over several pieces is found. */
  pieces(pieces: readonly string[]): readonly string[] {
    if (this.patterns.length === 0) return pieces
    let redacted = pieces
    // A replacement may create the start of a text, which `^` matches. Each pass leaves less to replace.
    for (;;) {
      const edits = this.editsOf(redacted.join(''))
      if (edits.length === 0) return redacted
      redacted = applyEdits(redacted, edits)
    }
  }

  /** Returns true if a path rule names the field. */
  hides(path: readonly string[]): boolean {
    return this.paths.length > 0 && matchesPath(this.paths, path)
  }

  /** Copies a value without the fields named by path rules. */
  without(value: Json, path: readonly string[] = []): Json {
    if (this.paths.length === 0 || typeof value !== 'object' || value === null) return value
    const visible = Object.entries(value as JsonObject).filter(([name]) => !this.hides([...path, name]))
    const copied = visible.map(([name, item]) => [name, this.without(item, [...path, name])] as const)
    return Array.isArray(value) ? copied.map(([, item]) => item) : Object.fromEntries(copied)
  }

  /** Redacts every text and field name. The shape stays the same. */
  json(value: Json, path: readonly string[] = [], isHidden = false): Json {
    const hidden = isHidden || this.hides(path)
    if (Array.isArray(value)) return value.map((item, index) => this.json(item, [...path, String(index)], hidden))
    if (isObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, item]) => [this.text(name), this.json(item, [...path, name], hidden)]),
      )
    if (hidden) return this.hidden(value)
    return typeof value === 'string' ? this.text(value) : value
  }

  /** Replaces a value by one of the same type. */
  hidden<T extends Json>(value: T): Json {
    if (typeof value === 'string') return value === '' ? value : this.placeholder
    return typeof value === 'number' ? 0 : typeof value === 'boolean' ? false : value
  }

  private editsOf(text: string): readonly Edit[] {
    const edits: Edit[] = []
    let offset = 0
    for (const segment of text.split(this.placeholder)) {
      for (const pattern of this.patterns)
        for (const { 0: found, index } of segment.matchAll(pattern))
          if (found !== '')
            edits.push({ start: offset + index, end: offset + index + found.length, text: this.placeholder })
      for (const edit of base64Edits(segment, inner => this.text(inner)))
        edits.push({ start: offset + edit.start, end: offset + edit.end, text: edit.text })
      offset += segment.length + this.placeholder.length
    }
    return mergedEdits(edits)
  }
}
