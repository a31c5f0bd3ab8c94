import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { commandLine } from '../../../src/commands/command-line.ts'
import type { Results } from '../../../src/kit/conformance/report/results.ts'

/* The command as CI runs it: every cell against this repository's own gateway, with a file of expected failures. */

const EXPECTED = 'conformance/expected-failures.txt'

/** Milliseconds; how long the run may take on a machine that does nothing else. */
const LONGEST = 120_000

const folder = mkdtempSync(join(tmpdir(), 'conformance-own-'))

async function conformance(...args: string[]) {
  let printed = ''
  const print = (text: string) => (printed += `${text}\n`)
  const code = await commandLine(['conformance', ...args], { out: print, fault: print })
  return { code, printed }
}

describe('every cell', () => {
  const file = join(folder, 'results.json')
  const isIdle = loadavg()[0]! / availableParallelism() < 1
  let ran: Awaited<ReturnType<typeof conformance>>
  let results: Results
  let took: number

  beforeAll(async () => {
    const began = performance.now()
    ran = await conformance('--peer', 'interlingua', '--expected-failures', EXPECTED, '--json', file)
    took = performance.now() - began
    results = JSON.parse(readFileSync(file, 'utf8'))
  }, 5 * LONGEST)

  test('ends as expected', () => expect(ran.code, ran.printed.slice(-5000)).toBe(0))
  test.runIf(isIdle)('takes less than two minutes', () => expect(took).toBeLessThan(LONGEST))

  test('is judged', () => {
    expect(results.counts.pass).toBeGreaterThan(60_000)
    // Two of the four conversation formats have no sound, so that the gateway refuses it.
    const refused = results.checks.filter(({ status }) => status === 'unsupported').map(({ cell }) => cell)
    expect(refused.filter(cell => !/^(chat|contents)-(messages|responses)\/audio\//.test(cell))).toEqual([])
    expect(refused.length).toBe(8)
  })

  test('has unique ids of checks', () => {
    const ids = results.checks.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('one cell', () => {
  const CELL = 'chat-chat/text/whole'
  const one = ['--peer', 'proxy', '--only', CELL, '--expected-failures', join(folder, 'expected.txt')]

  test('ends with 1 for a stale entry', async () => {
    writeFileSync(join(folder, 'expected.txt'), `${CELL}/answer.http.status # it failed once\n`)
    const { code, printed } = await conformance(...one)
    expect(code).toBe(1)
    expect(printed).toContain(`Stale entry (the check no longer fails): ${CELL}/answer.http.status`)
  })

  test('ends with 1 for a new failure, and with 0 once it is listed', async () => {
    const target = ['--target', 'http://127.0.0.1:9', '--model', 'm', '--caller', 'chat', '--only', 'chat/text/whole']
    const options = [...target, '--expected-failures', join(folder, 'expected.txt')]
    const id = 'chat/text/whole/answer.http.connect'
    writeFileSync(join(folder, 'expected.txt'), '')
    const unlisted = await conformance(...options)
    expect(unlisted.code).toBe(1)
    expect(unlisted.printed).toContain(`Unexpected failure: ${id}`)
    writeFileSync(join(folder, 'expected.txt'), `${id} # nobody listens there\n`)
    expect((await conformance(...options)).code).toBe(0)
  })
})
