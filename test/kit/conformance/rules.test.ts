import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import { ROOT } from '../../../src/root.ts'

/* Every rule names a public source, and sections of this project's reference exist. */

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')

function isThere(source: string): boolean {
  if (source.startsWith('https://')) return true
  const [file = '', anchor] = source.split('#')
  const path = join(ROOT, file)
  if (!file.startsWith('docs/wire/') || !existsSync(path)) return false
  const headings = [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!))
  return anchor !== undefined && headings.includes(anchor)
}

test.each(Object.values(FORMATS).flatMap(({ name, rules }) => rules.map(rule => [name, rule] as const)))(
  '%s $id',
  (_, { source, says }) => {
    expect(isThere(source), source).toBe(true)
    expect(says).toMatch(/\.$/)
  },
)

test.each(Object.values(FORMATS))('$name: ids of rules are unique among their subject', ({ rules }) => {
  const ids = rules.map(({ id, on }) => `${on}.${id}`)
  expect(new Set(ids).size).toBe(ids.length)
})
