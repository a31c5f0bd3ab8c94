import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { version } from '../../src/version.ts'

const folder = mkdtempSync(join(tmpdir(), 'other-runtimes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a runtime without a cache of compiled code, such as Deno, starts the program', () => {
  const lacking = join(folder, 'lacking.cjs')
  writeFileSync(lacking, "require('node:module').enableCompileCache = undefined\n")
  const args = ['--require', lacking, 'bin/interlingua.js', '--version']
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' }).trim()).toBe(version())
})
