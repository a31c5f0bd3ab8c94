import type { Json } from '../../canonical/node.ts'
import { LARGEST, MARGIN } from './recording.ts'
import type { Scrub } from './secrets.ts'

/** Characters kept of a text for which there is no room. */
const REST = 200
/** Levels of nesting. */
const DEEPEST = 200

/**
 * Copies values for a capture: as JSON, without secrets, and cut where they have more characters than may be kept. Bytes and
 * vectors are replaced by their length.
 */
export class Bounded {
  /** JSON pointers of what was cut, below the name of its view. */
  readonly cut: string[] = []
  private room = LARGEST
  private readonly scrub: Scrub

  constructor(scrub: Scrub) {
    this.scrub = scrub
  }

  /** @param at where it stands: `/caller/body`. Each value has all the room there is for one. */
  copy(value: unknown, at: string): Json {
    this.room = LARGEST
    return this.value(value, at, 0)
  }

  /** A text that is no part of a document. */
  text(text: string, at: string): string {
    this.room = LARGEST
    return this.string(text, at)
  }

  private value(value: unknown, at: string, depth: number): Json {
    if (typeof value === 'string') return this.string(value, at)
    if (typeof value !== 'object' || value === null) {
      this.room -= 8
      return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)) ? value : null
    }
    if (depth > DEEPEST || this.room <= 0) return this.leftOut(at)
    if (Array.isArray(value)) return this.list(value, at, depth)
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) return lengthOf(value)
    const entries: [string, Json][] = []
    for (const [name, item] of Object.entries(value)) {
      if (item === undefined) continue
      if (this.room <= 0) {
        this.cut.push(at)
        break
      }
      this.room -= name.length
      const shown = this.scrub(name)
      entries.push([shown, this.value(item, `${at}/${escaped(shown)}`, depth + 1)])
    }
    return Object.fromEntries(entries)
  }

  private list(list: readonly unknown[], at: string, depth: number): Json[] {
    const items: Json[] = []
    for (const [index, item] of list.entries()) {
      if (this.room <= 0) {
        this.cut.push(at)
        break
      }
      items.push(this.value(item, `${at}/${index}`, depth + 1))
    }
    return items
  }

  private string(text: string, at: string): string {
    if (text.length <= this.room) {
      const whole = this.scrub(text)
      this.room -= whole.length + 2
      return whole
    }
    this.cut.push(at)
    const kept = cutText(text, Math.min(REST, Math.max(this.room, 0)), this.scrub)
    this.room -= kept.length
    return `${kept}… (${text.length} characters)`
  }

  private leftOut(at: string): string {
    this.cut.push(at)
    return '…'
  }
}

/** The beginning of a text without secrets: they are looked for beyond where it is cut, so that none is cut in half. */
export function cutText(text: string, most: number, scrub: Scrub): string {
  if (text.length <= most) return scrub(text)
  const beyond = text.slice(0, most + MARGIN)
  const clean = scrub(beyond)
  // What was replaced by less may have brought half of a secret nearer: the last that was looked at is not shown.
  const end = beyond.length < text.length ? clean.length - MARGIN : clean.length
  return clean.slice(0, Math.max(0, Math.min(most, end))).toWellFormed()
}

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

/** What stands for bytes, vectors and other things that are no JSON. */
function lengthOf(value: object): Json {
  const { length, size } = value as { readonly length?: unknown; readonly size?: unknown }
  if (ArrayBuffer.isView(value)) return { length: Number(length ?? value.byteLength) }
  return { bytes: typeof size === 'number' ? size : null }
}
