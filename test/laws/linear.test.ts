import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { Fault } from './linear/growth.ts'
import { QUADRATIC } from './linear/quadratic.ts'

const MAIN = join(import.meta.dirname, 'linear/main.ts')

/** Runs in a separate process, because counting steps changes the built-in methods and slows everything down. */
async function faultsOf(what: 'quadratic' | 'requests' | 'answers' | 'streams' | 'passing'): Promise<readonly Fault[]> {
  const options = { maxBuffer: 2 ** 26 }
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-flush-bytecode', MAIN, what], options)
  return JSON.parse(stdout) as readonly Fault[]
}

test('the counter finds every way to do quadratic work', async () => {
  const found = new Set((await faultsOf('quadratic')).map(({ shape }) => shape.replace(/, alone$/, '')))
  expect([...found].sort()).toEqual(Object.keys(QUADRATIC).sort())
})

describe('linear: twice the nodes take twice the steps (trap 107)', { timeout: 300_000 }, () => {
  test('requests of every format, with a long list in each place', async () => {
    expect(await faultsOf('requests')).toEqual([])
  })

  test('answers of every format, with a long list in each place', async () => {
    expect(await faultsOf('answers')).toEqual([])
  })

  test('streams of every format and kind of work, with each kind of event repeated', async () => {
    expect(await faultsOf('streams')).toEqual([])
  })

  test('histories, contents, tools, schemas and streams, through a gateway, for every pair of formats', async () => {
    expect(await faultsOf('passing')).toEqual([])
  })
})
