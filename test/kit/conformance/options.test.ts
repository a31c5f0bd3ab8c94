import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterEach, describe, expect, test } from 'vitest'
import { commandLine } from '../../../src/commands/command-line.ts'
import { Progress } from '../../../src/commands/conformance-progress.ts'
import { costOf } from '../../../src/kit/conformance/budget.ts'
import type { Results } from '../../../src/kit/conformance/report/results.ts'
import type { CellResult } from '../../../src/kit/conformance/run-cells.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'

/* Options of a run: repetitions, a budget, and progress on a terminal. */

const TEXT = readScenario('text').wires['chat']!

let server: Server | undefined
afterEach(() => {
  server?.close()
  server = undefined
})

/** Opens a target that answers with the scenario's text, except for every request whose number is in `wrong`. */
async function target(wrong: readonly number[] = []): Promise<string> {
  let count = 0
  server = createServer((_, reply) => {
    count++
    if (wrong.includes(count)) reply.writeHead(500, { 'content-type': 'text/plain' }).end('no')
    else reply.writeHead(200, { 'content-type': 'application/json' }).end(TEXT.whole)
  })
  await new Promise<void>(resolve => server!.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function ran(url: string, ...args: string[]) {
  const file = join(mkdtempSync(join(tmpdir(), 'conformance-options-')), 'results.json')
  let printed = ''
  const print = (text: string) => (printed += `${text}\n`)
  const all = ['conformance', '--target', url, '--key', 'a-key', '--model', 'm', '--caller', 'chat', '--json', file]
  const code = await commandLine([...all, ...args], { out: print, fault: print })
  const read = (): Results => JSON.parse(readFileSync(file, 'utf8')) as Results
  return { code, printed, read }
}

const ONE = ['--only', 'chat/text/whole'] as const

describe('--repeat', () => {
  test('repetitions that end alike are one cell', async () => {
    const { code, read } = await ran(await target(), ...ONE, '--repeat', '3')
    expect(code).toBe(0)
    expect(read().cells.length).toBe(1)
    expect(read().checks.map(({ rule }) => rule)).not.toContain('flaky')
  })

  test('a cell that ends differently is flaky, and both ends are shown', async () => {
    const { code, read } = await ran(await target([2]), ...ONE, '--repeat', '3')
    expect(code).toBe(1)
    const flaky = read().checks.find(({ rule }) => rule === 'flaky')!
    expect(flaky).toMatchObject({ id: 'chat/text/whole/flaky', status: 'fail' })
    expect(flaky.details?.join('\n')).toMatch(
      /answer\.http\.status: pass, then fail, then pass \(run 2: Status 500: no\)/,
    )
    // The wire dump is that of the failure.
    expect(read().cells[0]!.wire?.answer?.head).toBe('HTTP 500')
  })

  test('its number is checked', async () => {
    for (const number of ['0', '-1', 'a', '1.5'])
      expect((await ran('http://127.0.0.1:9', '--repeat', number)).code).toBe(2)
  })
})

describe('--budget', () => {
  test('a run ends when its cost is reached, and reports what ran', async () => {
    const { code, printed, read } = await ran(
      await target(),
      '--only',
      'chat/*/whole',
      '--budget',
      '0.000001',
      '--price',
      '1/2',
    )
    expect(code).toBe(1)
    expect(printed).toContain('the budget is spent')
    expect(read().interrupted).toBe(true)
    expect(read().cells.length).toBe(1)
  })

  test('a run within its budget is whole', async () => {
    const { code, read } = await ran(await target(), ...ONE, '--budget', '1', '--price', '1/2')
    expect(code).toBe(0)
    expect(read().interrupted).toBeUndefined()
  })

  test('it needs a price and a live target', async () => {
    expect((await ran('http://127.0.0.1:9', '--budget', '1')).code).toBe(2)
    expect((await ran('http://127.0.0.1:9', '--budget', 'a', '--price', '1/2')).code).toBe(2)
    expect((await ran('http://127.0.0.1:9', '--budget', '1', '--price', '1')).code).toBe(2)
  })

  const result = (status: number, body: string, mode = 'whole'): CellResult => ({
    cell: { id: 'a', caller: { name: 'chat' }, upstream: undefined, scenario: { id: 'text' }, mode },
    checks: [],
    record: {
      exchange: {
        sent: { method: 'POST', url: '/', headers: {}, body: Buffer.alloc(400) },
        got: { status, headers: {}, trailers: {}, body: Buffer.from(body), isComplete: true },
        took: 1,
      },
      arrivals: [],
    },
  })
  const PRICE = { input: 3, output: 15 }

  test('a cost is that of the reported usage, else of the bytes; an error is free', () => {
    const usage = { prompt_tokens: 1000, completion_tokens: 200 }
    expect(costOf(result(200, JSON.stringify({ usage })), PRICE)).toBeCloseTo(0.006)
    expect(costOf(result(200, `data: ${JSON.stringify({ choices: [], usage })}\n\n`, 'stream'), PRICE)).toBeCloseTo(
      0.006,
    )
    expect(costOf(result(200, 'x'.repeat(800)), PRICE)).toBeCloseTo(0.0033)
    expect(costOf(result(429, '{}'), PRICE)).toBe(0)
  })

  test('a cost includes the later steps, and no target lowers it by counts below zero', () => {
    const usage = { prompt_tokens: 1000, completion_tokens: 200 }
    const step = result(200, JSON.stringify({ usage }))
    expect(costOf({ ...step, record: { ...step.record!, later: [step.record!, step.record!] } }, PRICE)).toBeCloseTo(
      0.018,
    )
    const negative = { prompt_tokens: -1_000_000, completion_tokens: -1_000_000 }
    expect(costOf(result(200, JSON.stringify({ usage: negative })), PRICE)).toBeGreaterThan(0)
  })
})

describe('sessions', () => {
  test('run beside the other cells, and are reported by the same schema', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'conformance-sessions-')), 'results.json')
    const run = async (...args: string[]) => {
      const all = ['conformance', '--peer', 'proxy', '--only', '*/text*', '--json', file, ...args]
      const code = await commandLine(all, { out: () => {}, fault: () => {} })
      return { code, results: JSON.parse(readFileSync(file, 'utf8')) as Results }
    }
    const { code, results } = await run('--caller', 'chat,realtime', '--upstream', 'chat,realtime')
    expect(code).toBe(0)
    const judged = results.cells.filter(({ caller, upstream }) => caller === upstream).map(({ id }) => id)
    expect(judged).toEqual([
      ...['chat-chat/text/whole', 'chat-chat/text/stream'],
      ...['chat-chat/text-verbatim/whole', 'chat-chat/text-verbatim/stream'],
      'realtime-realtime/text-turn/session',
    ])
    const validate = new Ajv2020().compile(JSON.parse(readFileSync('conformance/results.schema.json', 'utf8')))
    validate(results)
    expect(validate.errors).toBeNull()
  })
})

describe('progress', () => {
  const screen = (isTTY: boolean) => {
    const written: string[] = []
    return { isTTY, columns: 40, written, write: (text: string) => written.push(text) }
  }
  const result = (status: 'pass' | 'fail'): CellResult => ({
    cell: {
      id: 'chat-messages/a-long-name/stream',
      caller: { name: 'chat' },
      upstream: undefined,
      scenario: { id: 'a' },
      mode: 'whole',
    },
    checks: [{ id: 'a', cell: 'a', rule: 'a', level: 'must', status, says: 'A.', source: 'a' }],
  })

  test('is one line that is rewritten and removed', () => {
    const terminal = screen(true)
    const progress = new Progress(terminal)
    progress.show(result('pass'), 0, 2)
    progress.show(result('fail'), 1, 2)
    progress.clear()
    expect(terminal.written).toEqual([
      '\r\u001b[2K1 of 2 cells: chat-messages/a-long-name',
      '\r\u001b[2K2 of 2 cells, 1 with failures: chat-mes',
      '\r\u001b[2K',
    ])
  })

  test('is silent elsewhere', () => {
    const file = screen(false)
    const progress = new Progress(file)
    progress.show(result('pass'), 0, 1)
    progress.clear()
    expect(file.written).toEqual([])
  })
})
