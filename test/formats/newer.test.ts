import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { expectSection } from '../generated-page.ts'
import { KINDS } from './newer/kinds.ts'

/* Every kind in the types of the publishers' SDKs is read, or passes whole and is a shown loss for other formats. */

const SDKS = ['@anthropic-ai/sdk', 'openai', '@google/genai']

const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as { version: string }).version

const quoted = (names: readonly string[]): string => names.map(name => `\`${name}\``).join(' ')

test('the page on newer kinds is that of the SDKs', () => {
  const rows = KINDS.map(({ title, names, probe }) => {
    expect(names, title).not.toEqual([])
    const { read = [], passes = [], declared = [] } = Object.groupBy(names, probe)
    return `| ${title} | ${quoted(read)} | ${quoted(passes)} | ${quoted(declared)} |\n`
  })
  const versions = SDKS.map(name => `\`${name}\` ${versionOf(name)}`).join(', ')
  const table = `| kinds | read | passes | declared |\n|---|---|---|---|\n${rows.join('')}`
  expectSection('docs/newer.md', 'kinds', `Types of ${versions}:\n\n${table}`)
})
