import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { Finding } from './finding.ts'

/*
 * A short pass of `npm run fuzz`, with a fixed seed and a fixed number of inputs. It runs in a process of its own, because
 * counters are written into the sources when they are loaded.
 */

interface Outcome {
  readonly target: string
  readonly executions: number
  readonly blocks: number
  readonly findings: readonly Finding[]
}

async function outcomes(...options: readonly string[]): Promise<readonly Outcome[]> {
  const command = [join(import.meta.dirname, 'main.ts'), '--json', ...options]
  const { stdout } = await promisify(execFile)(process.execPath, command, { maxBuffer: 2 ** 26 }).catch(
    (thrown: { readonly stdout: string; readonly stderr: string }) => {
      if (thrown.stdout === '') throw thrown
      return thrown
    },
  )
  return (JSON.parse(stdout) as { readonly outcomes: readonly Outcome[] }).outcomes
}

test('the fuzzer finds every planted fault, by the law that it breaks', async () => {
  const found = await outcomes('--planted', '--runs', '20000', '--seed', '1')
  const laws = found.map(({ target, findings }) => [target, findings.map(({ law }) => law.split(' of a value')[0])])
  expect(laws).toEqual(found.map(({ target }) => [target, [target.replace(/^planted:| of a value$/g, '')]]))
})

test('some dozens of mutated inputs of every reader break no law', async () => {
  const found = await outcomes('--runs', '50', '--seed', '1')
  expect(found.flatMap(({ findings }) => findings)).toEqual([])
  // A target whose inputs never reach its reader would find nothing.
  expect(found.filter(({ executions, blocks }) => executions < 10 || blocks < 4)).toEqual([])
})
