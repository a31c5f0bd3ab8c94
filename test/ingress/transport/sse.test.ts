import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { WireEvent } from '../../../src/canonical/wire.ts'
import { eventParser } from '../../../src/ingress/transport/event-parser.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

function parse(bytes: Uint8Array, cuts: readonly number[] = []): WireEvent[] {
  const parser = eventParser()
  const events: WireEvent[] = []
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    events.push(...parser.push(bytes.subarray(from, cut)))
    from = cut
  }
  events.push(...parser.end())
  return events
}

const every = (size: number, length: number): number[] =>
  Array.from({ length: Math.floor((length - 1) / size) }, (_, index) => (index + 1) * size)

const SAMPLE = [
  '\uFEFF: hello\r\n',
  'event: greeting\ndata: {"text":"grüße 🌍 \u2028 line"}\n\n',
  'data:no space\r\n\r\n',
  'data: two\rdata: lines\r\r',
  ': ping\n\n',
  'id: 7\nretry: 10\nevent:named\ndata:  one space kept\n\n',
  'unknown: field\ndata\n\n',
  'event: keepalive\ndata:\n\n',
  'data: \ndata: \n\n',
  'event: only a name\n\n',
  'data: [DONE]',
].join('')

const EXPECTED: WireEvent[] = [
  { event: 'greeting', data: '{"text":"grüße 🌍 \u2028 line"}' },
  { data: 'no space' },
  { data: 'two\nlines' },
  { event: 'named', data: ' one space kept' },
  { data: '[DONE]' },
]

describe('the parser of server-sent events', () => {
  test('trap 74: line ends, comments, several data lines, no space, U+2028, byte order mark, no final blank line', () => {
    expect(parse(bytesOf(SAMPLE))).toEqual(EXPECTED)
  })

  test('law 17: every cut size gives the same events', () => {
    const bytes = bytesOf(SAMPLE)
    for (let size = 1; size <= 97; size++) expect(parse(bytes, every(size, bytes.length))).toEqual(EXPECTED)
  })

  test('law 17: random cuts of random streams give the same events', () => {
    const line = fc.constantFrom('data: a', 'data:b', 'event: e', ': c', 'data: ü🌍', '', '', 'id: 1', 'data')
    const ending = fc.constantFrom('\n', '\r\n', '\r')
    const stream = fc.array(fc.tuple(line, ending), { maxLength: 30 }).map(lines => bytesOf(lines.flat().join('')))
    fc.assert(
      fc.property(stream, fc.array(fc.nat(300)), (bytes, cuts) => {
        const sorted = cuts.filter(cut => cut < bytes.length).sort((a, b) => a - b)
        expect(parse(bytes, sorted)).toEqual(parse(bytes))
      }),
      { numRuns: 500 },
    )
  })

  test('no bytes give no events', () => {
    expect(parse(bytesOf(''))).toEqual([])
    expect(parse(bytesOf('\n\n\n'))).toEqual([])
  })

  test('an event over the limit stops the parser, in one chunk or several', () => {
    for (const size of [7, 1000]) {
      const parser = eventParser(64)
      const bytes = bytesOf(`data: small\n\ndata: ${'x'.repeat(100)}\n\ndata: after\n\n`)
      const events: WireEvent[] = []
      for (let at = 0; at < bytes.length; at += size) events.push(...parser.push(bytes.subarray(at, at + size)))
      events.push(...parser.end())
      expect(parser.overflowed).toBe(true)
      expect(events).toEqual([{ data: 'small' }])
    }
  })
})
