import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { openLog } from '../../src/server/log.ts'

const plain = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(undefined))
const entry = fc.record({
  fields: fc.dictionary(fc.constantFrom('id', 'key', 'model', 'ms', 'finish', 'stream'), plain),
  message: fc.string(),
})

// The descriptors stay open. A log is never closed, and repeats its writes to whatever file has its descriptor by then.

/** Returns a line's fields and message without its time. */
const timeless = (line: string): object => ({ ...JSON.parse(line), time: 0 })

test('a line of ours is what pino would have written', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'interlingua-log-'))
  const entries = fc.sample(entry, { numRuns: 300, seed: 7 })
  const expected: string[] = []
  const theirs = pino({ base: null }, { write: line => void expected.push(line) })
  const descriptor = openSync(join(dir, 'log'), 'w')
  const ours = openLog(descriptor)
  for (const { fields, message } of entries) {
    theirs.info(fields, message)
    ours.info(fields, message)
  }
  await ours.flush()
  const written = readFileSync(join(dir, 'log'), 'utf8').split('\n').slice(0, -1)
  rmSync(dir, { recursive: true })
  expect(written.map(timeless)).toEqual(expected.map(timeless))
})

test.runIf(existsSync('/dev/full'))('where nothing can be written, it is said once and nothing waits', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const descriptor = openSync('/dev/full', 'w')
  const log = openLog(descriptor)
  for (let round = 0; round < 3; round++) {
    log.error({}, 'x')
    log.info({}, 'x')
    await log.flush()
  }
  expect(said.mock.calls).toEqual([[expect.stringContaining('the log cannot be written: ENOSPC')]])
  said.mockRestore()
})
