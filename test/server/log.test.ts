import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openLog } from '../../src/server/log.ts'

const plain = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(undefined))
const entry = fc.record({
  fields: fc.dictionary(fc.constantFrom('id', 'key', 'model', 'ms', 'finish', 'stream'), plain),
  message: fc.string(),
})

/** A line's fields and message without the time it was written at. */
const timeless = (line: string): object => ({ ...JSON.parse(line), time: 0 })

test('a line of ours is what pino would have written', () => {
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
  ours.flush()
  closeSync(descriptor)
  const written = readFileSync(join(dir, 'log'), 'utf8').split('\n').slice(0, -1)
  rmSync(dir, { recursive: true })
  expect(written.map(timeless)).toEqual(expected.map(timeless))
})
