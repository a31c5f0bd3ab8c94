import fc from 'fast-check'
import { expect, it } from 'vitest'
import { eventRanges } from '../../../src/kit/recordings/event-ranges.ts'
import { linesOf } from '../../../src/kit/recordings/text-lines.ts'
import { holds } from '../../laws/support.ts'

const STREAM = 'text/event-stream'
const unit = fc.constantFrom('data:', ' ', '\n', '\r', 'a', '{', 'é')

it('data of a line is what stands behind its name, as a regular expression reads it', () => {
  holds(fc.string({ unit }), text => {
    const read = [...text.matchAll(/^(data: ?)?([^\r\n]+)/gm)].map(({ index, 0: line, 1: name = '' }) => ({
      start: index + name.length,
      end: index + line.length,
    }))
    expect(eventRanges(text, STREAM)).toEqual(read)
  })
})

it('a line of 40 MB is one range (in a process that ran for long, regular expressions exceed their stack there)', () => {
  const text = `data: ${'é'.repeat(40 * 1024 * 1024)}\n\n`
  expect(linesOf(text)).toEqual([{ start: 0, end: text.length - 2 }])
  expect(eventRanges(text, STREAM)).toEqual([{ start: 6, end: text.length - 2 }])
})
