import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDemo } from '../../builders/demo.ts'
import { documentedTest, withOtherPrompt, withUpstream } from '../../builders/documented-tests.ts'

const ROOT = join(import.meta.dirname, '../../..')

/*
 * The examples for vitest of docs/testing.md, run as written. `npm run first-start` runs them and the one for jest with
 * the installed package.
 */

/** Resolves the package's name to the sources. */
const CONFIG = `export default {
  resolve: { alias: { 'interlingua/testing': ${JSON.stringify(join(ROOT, 'src/kit/testing/index.ts'))} } },
}`

const EXAMPLES = ['hello.test.ts', 'parallel.test.ts'].map(name => [name, documentedTest(name)] as const)

test('the documented examples record, replay without a provider, and fail for a changed prompt', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'documented-'))
  mkdirSync(join(folder, 'test'))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'vitest.config.js'), CONFIG)
  const write = (change: (text: string) => string): void => {
    for (const [name, text] of EXAMPLES) writeFileSync(join(folder, name), change(text))
  }
  const demo = await openDemo()
  write(text => withUpstream(text, demo.url))
  // One file at a time, so that both do not record the same exchange.
  const environment = { INTERLINGUA_RECORD: '1', OPENAI_API_KEY: 'sk-documented-1' }
  expect(await vitest(folder, environment, '--no-file-parallelism')).toMatch(/Tests +2 passed/)
  await demo.close()
  const [file, ...others] = readdirSync(join(folder, 'test/recordings'))
  expect(others).toEqual([])
  expect(readFileSync(join(folder, 'test/recordings', file!), 'utf8')).not.toContain('sk-documented')
  write(text => text)
  expect(await vitest(folder)).toMatch(/Tests +2 passed/)
  write(withOtherPrompt)
  const failed = await vitest(folder)
  expect(failed).toMatch(/Tests +2 failed/)
  expect(failed).toContain('- messages.0.content.0.text: "Say hello."')
  expect(failed).toContain('+ messages.0.content.0.text: "Say goodbye."')
})

/** Runs vitest in a folder and returns its output. */
async function vitest(folder: string, environment: NodeJS.ProcessEnv = {}, ...options: string[]): Promise<string> {
  const program = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const { INTERLINGUA_RECORD: _, VITEST: __, ...outside } = process.env
  const child = spawn(process.execPath, [program, 'run', '--reporter=verbose', ...options], {
    cwd: folder,
    env: { ...outside, NO_COLOR: '1', ...environment },
  })
  let text = ''
  child.stdout.on('data', piece => (text += piece))
  child.stderr.on('data', piece => (text += piece))
  await new Promise(resolve => child.once('close', resolve))
  return text
}
