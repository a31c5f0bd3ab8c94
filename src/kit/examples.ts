import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Format } from '../canonical/node.ts'
import { isObject } from '../canonical/node.ts'
import { READERS } from '../ingress/index.ts'
import { OWN_FIXTURES } from '../providers/fixtures.ts'
import { guess } from './guess.ts'
import { SHOWCASE } from './showcase.ts'
import type { Kind } from './translate.ts'
import { jsonOf } from './wire-text.ts'

/** A text to begin with. */
export interface Example {
  readonly format: Format
  readonly kind: Kind
  /** What it shows, as a word: `tool-turn`. */
  readonly name: string
  readonly text: string
}

const FILE = /^([a-z0-9-]+)\.(request|result|events)\.(?:json|sse)$/

/** Examples of each format and kind, which show the most first. */
const SHOWN = ['tool-turn', 'tool-call', 'reasoning', 'image', 'structured', 'web-search', 'hello']
const KINDS: readonly Kind[] = ['request', 'result', 'events']
/** Examples of one format and kind, at most. */
const MOST = 5

/** Examples of every format, in the order of the readers. */
export function examples(): readonly Example[] {
  return Object.keys(READERS).flatMap(format => {
    const folder = join(OWN_FIXTURES, format)
    const all = existsSync(folder) ? readdirSync(folder).flatMap(file => exampleOf(format, file)) : []
    const own = SHOWCASE.filter(one => one.format === format)
    return KINDS.flatMap(kind => [...own, ...all.sort(byName)].filter(one => one.kind === kind).slice(0, MOST))
  })
}

const byName = (a: Example, b: Example): number => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1)
const rank = (name: string): number => (SHOWN.includes(name) ? SHOWN.indexOf(name) : SHOWN.length)

function exampleOf(format: Format, file: string): Example[] {
  const [, name, kind] = (FILE.exec(file) ?? []) as unknown as readonly [string, string, Kind]
  if (name === undefined || READERS[format]?.[kind] === undefined) return []
  const text = readFileSync(join(OWN_FIXTURES, format, file), 'utf8')
  return [{ format, kind, name, text: kind === 'events' ? text : bodyOf(text, { format, kind }) }]
}

/** The body alone, where that shows well enough what it is. */
function bodyOf(text: string, what: Pick<Example, 'format' | 'kind'>): string {
  const { body, files } = jsonOf(text)
  const alone = isObject(body) && files === undefined ? JSON.stringify(body, null, 2) : undefined
  const found = alone === undefined ? undefined : guess(alone)
  const isClear = found?.format === what.format && found.kind === what.kind
  return isClear ? alone! : JSON.stringify(jsonOf(text), null, 2)
}
