import { describe, expect, test } from 'vitest'
import { addressesOf } from '../../../console/src/pages/start/choices.ts'
import { FORMATS } from '../../../console/src/pages/start/clients/client.ts'
import { piecesOf } from '../../../console/src/pages/start/pieces.ts'
import { saidIn } from '../../../console/src/pages/start/trial/answer-text.ts'
import { lossesIn } from '../../../console/src/pages/start/trial/losses.ts'
import { EventSplitter } from '../../../console/src/pages/start/trial/sse.ts'
import { lossHeaders } from '../../../src/egress/losses.ts'
import { fixtureCases } from '../../builders/demo.ts'

const CASES = fixtureCases(FORMATS).filter(({ events, result }) => events !== undefined && result !== undefined)

/** Reads a stream in chunks of this many characters. */
function readIn(format: (typeof FORMATS)[number], stream: string, piece: number): string {
  const splitter = new EventSplitter()
  const pieces = Array.from({ length: Math.ceil(stream.length / piece) }, (_, at) =>
    stream.slice(at * piece, (at + 1) * piece),
  )
  const events = [...pieces.flatMap(one => splitter.push(one)), ...splitter.end()]
  return events.map(({ data }) => (data === undefined ? '' : (saidIn(format, data).text ?? ''))).join('')
}

/** Cases whose whole response has text. Their streams may come from recordings with other texts. */
const TOLD = CASES.filter(({ format, result }) => saidIn(format as 'chat', JSON.stringify(result)).text)

describe('answers as the page shows them', () => {
  test('there are answers of every format to read', () => {
    expect([...new Set(TOLD.map(({ format }) => format))].sort()).toEqual([...FORMATS].sort())
  })

  test.each(TOLD.map(one => ({ of: `${one.format}/${one.name}`, ...one })))(
    'a stream says what the whole answer says, in whatever pieces it comes: $of',
    ({ format, events, result }) => {
      const spoken = format as (typeof FORMATS)[number]
      const whole = saidIn(spoken, JSON.stringify(result)).text
      for (const piece of [1, 7, 4096]) expect(readIn(spoken, events!, piece)).toBe(whole)
      expect(readIn(spoken, events!.replaceAll('\n', '\r\n'), 5)).toBe(whole)
    },
  )

  test('errors are read wherever formats have them', () => {
    const error = { message: 'No such model.' }
    for (const format of FORMATS) expect(saidIn(format, JSON.stringify({ error }))).toEqual({ error: 'No such model.' })
    const failed = { type: 'response.failed', response: { error } }
    expect(saidIn('responses', JSON.stringify(failed))).toEqual({ error: 'No such model.' })
  })

  test('whatever an upstream sends is read without a fault', () => {
    const odd = [
      '',
      '[DONE]',
      'null',
      '1',
      '[]',
      '{}',
      '{"choices":[null]}',
      '{"candidates":[{"content":{"parts":[null,{"text":1}]}}]}',
    ]
    const more = [
      '{"choices":{}}',
      '{"type":"content_block_delta"}',
      '{"type":"message","content":[null]}',
      '{"object":"response","output":[null]}',
    ]
    for (const format of FORMATS) for (const data of [...odd, ...more]) expect(saidIn(format, data).text ?? '').toBe('')
  })

  test('losses are read as the gateway writes them', () => {
    const path = ['messages', 0, 'na me; /%'] as const
    const losses = Array.from({ length: 30 }, () => ({ kind: 'dropped' as const, path, reason: 'no-names-here' }))
    const read = lossesIn(new Headers(lossHeaders(losses)))!
    expect(read.count).toBe(30)
    expect(read.named).toHaveLength(20)
    expect(read.named[0]).toEqual({ place: 'messages/0/na me; /%', reason: 'no-names-here' })
    expect(lossesIn(new Headers())).toBeUndefined()
  })
})

test('the address of the page comes first where it is one of the gateway, and is the only one where none is named', () => {
  expect(addressesOf([], 'http://127.0.0.1:4747')).toEqual(['http://127.0.0.1:4747'])
  const both = ['https://ai.example.com/', 'https://ai.example.cn/gw/']
  expect(addressesOf(both, 'http://10.0.0.1')).toEqual(['https://ai.example.com', 'https://ai.example.cn/gw'])
  expect(addressesOf(both, 'https://ai.example.cn')).toEqual(['https://ai.example.cn/gw', 'https://ai.example.com'])
})

test('what is marked is still the same text', () => {
  expect(piecesOf('a URL/v1 and KEY', ['URL', 'KEY'])).toEqual(['a ', 'URL', '/v1 and ', 'KEY', ''])
  expect(piecesOf('nothing', [])).toEqual(['nothing'])
})
