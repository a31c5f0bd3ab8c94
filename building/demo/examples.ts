import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { append } from '../../src/canonical/lists.ts'
import { type Format, isObject } from '../../src/canonical/node.ts'
import { READERS } from '../../src/ingress/index.ts'
import { EXAMPLES_FILE, type Example } from '../../src/kit/examples.ts'
import { guessFormat } from '../../src/kit/guess.ts'
import type { Kind } from '../../src/kit/translate.ts'
import { jsonOf } from '../../src/kit/wire-text.ts'
import { ROOT } from '../../src/root.ts'
import { SHOWCASE } from './showcase.ts'

/* Makes the examples of the translator from the fixtures of the formats: `npm run demo`. The file is committed. */

/** The folder of the formats' fixtures. */
const FIXTURES = join(ROOT, 'fixtures')

const FILE = /^([a-z0-9-]+)\.(request|result|events)\.(?:json|sse)$/

/** Names of the examples to show first, the most instructive ones at the start. */
const SHOWN_FIRST = ['tool-turn', 'tool-call', 'reasoning', 'image', 'structured', 'web-search', 'hello']
const KINDS: readonly Kind[] = ['request', 'result', 'events']
/** Maximum number of examples of one format and kind. */
const MAX_EXAMPLES = 5

/** Returns the examples of every format, in the order of the readers. */
export async function examplesOfFixtures(): Promise<readonly Example[]> {
  const found: Example[] = []
  for (const format of Object.keys(READERS)) {
    const folder = join(FIXTURES, format)
    const all = existsSync(folder) ? await examplesIn(folder, format) : []
    const showcaseExamples = SHOWCASE.filter(one => one.format === format)
    for (const kind of KINDS)
      append(found, [...showcaseExamples, ...all.sort(byName)].filter(one => one.kind === kind).slice(0, MAX_EXAMPLES))
  }
  return found
}

const byName = (a: Example, b: Example): number => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1)
const rank = (name: string): number => (SHOWN_FIRST.includes(name) ? SHOWN_FIRST.indexOf(name) : SHOWN_FIRST.length)

async function examplesIn(folder: string, format: Format): Promise<Example[]> {
  const found: Example[] = []
  for (const file of readdirSync(folder)) {
    const [, name, kind] = (FILE.exec(file) ?? []) as unknown as readonly [string, string, Kind]
    if (name === undefined || READERS[format]?.[kind] === undefined) continue
    const text = readFileSync(join(folder, file), 'utf8')
    found.push({ format, kind, name, text: kind === 'events' ? text : await bodyOf(text, { format, kind }) })
  }
  return found
}

/** Returns the body of an example if its format and kind can be guessed from the body, otherwise the whole exchange. */
async function bodyOf(text: string, what: Pick<Example, 'format' | 'kind'>): Promise<string> {
  const { body, files } = jsonOf(text)
  const alone = isObject(body) && files === undefined ? JSON.stringify(body, null, 2) : undefined
  const found = alone === undefined ? undefined : await guessFormat(alone)
  const isClear = found?.format === what.format && found.kind === what.kind
  return isClear ? alone! : JSON.stringify(jsonOf(text), null, 2)
}

/** Writes the examples. */
export const writeExamples = async (): Promise<void> =>
  writeFileSync(EXAMPLES_FILE, `${JSON.stringify(await examplesOfFixtures(), null, 2)}\n`)
