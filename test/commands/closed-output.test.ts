import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { ENV, MAIN } from '../builders/paths.ts'

test('a reader that ends before the output does not fail the command', async () => {
  const child = spawn(process.execPath, [MAIN, 'check', '--schema'], { env: ENV })
  // The schema is larger than a pipe holds, so that the rest is written after the reader has ended.
  child.stdout.once('data', () => child.stdout.destroy())
  let fault = ''
  child.stderr.on('data', piece => (fault += piece))
  const code = await new Promise(resolve => child.once('exit', resolve))
  expect(fault).toBe('')
  expect(code).toBe(0)
})
