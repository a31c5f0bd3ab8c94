import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { examplesCommand } from '../../src/commands/examples.ts'

let dir: string
let config: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'examples-'))
  config = join(dir, 'interlingua.yaml')
  writeFileSync(config, 'channels: [{ name: replay, provider: replay }]')
})
afterAll(() => rmSync(dir, { recursive: true }))

function printed(options: { readonly key?: string }, env: { readonly [name: string]: string }): string {
  const lines: string[] = []
  const terminal = { out: (text: string) => lines.push(text), fault: (text: string) => lines.push(text) }
  examplesCommand(undefined, { config, ...options }, terminal, env)
  return lines.join('\n')
}

test('the key is exported first, where it is neither given nor in the environment', () => {
  const [first, ...others] = printed({}, {}).split('\n')
  expect(first).toMatch(/^ {2}export INTERLINGUA_KEY=il-… {3}# .*keys create NAME/)
  expect(others.length).toBeGreaterThan(10)
  for (const line of others) expect(line).toMatch(/^ {2}(?:ID=\$\()?curl .*\$INTERLINGUA_KEY"/)
  expect(printed({}, { INTERLINGUA_KEY: 'il-mine' })).toBe(others.join('\n'))
  expect(printed({ key: 'il-mine' }, {})).toBe(others.join('\n').replaceAll('$INTERLINGUA_KEY', 'il-mine'))
})

test('the README uses the same variable, and no other for a key', () => {
  const readme = readFileSync('README.md', 'utf8')
  expect(readme).toContain('export INTERLINGUA_KEY=il-…')
  const named = readme.match(/\b[A-Z_]*KEY=il-|\$[A-Z_]*KEY\b|env_key = "\w+"/g)!
  for (const name of named) expect(name).toContain('INTERLINGUA_KEY')
})
