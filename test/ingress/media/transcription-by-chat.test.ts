import { describe, expect, test } from 'vitest'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { transcriptOfChat } from '../../../src/ingress/media/transcription-by-chat.ts'

const asked: CanonicalRequest = {
  model: 'm',
  messages: [],
  output: { transcript: { task: 'transcribe', timestamps: ['segment'] } },
  sampling: {},
  stream: false,
}
const segmentsIn = (text: string) =>
  transcriptOfChat({ candidates: [{ content: [{ type: 'text', text }] }] }, asked).candidates[0]!.transcript?.segments

const one = (start: unknown, end: unknown) => JSON.stringify({ segments: [{ start, end, text: 'a' }] })

describe('times written by a model', () => {
  test.each<[string, unknown, unknown, readonly number[]]>([
    ['minutes and seconds', '01:02', '01:03.250', [62, 63.25]],
    ['hours', '1:00:01', '01:00:02,5', [3601, 3602.5]],
    ['numbers', 1.5, 2, [1.5, 2]],
    ['seconds as text', '1.5', '2s', [1.5, 2]],
    ['many minutes', '75:01', '75:02', [4501, 4502]],
  ])('%s', (_, start, end, times) => {
    const [segment] = segmentsIn(one(start, end))!
    expect([segment!.start, segment!.end]).toEqual(times)
  })

  test('of a language without spaces leave none in the transcript', () => {
    const segments = ['你好。', '再见'].map((text, at) => ({ start: at, end: at + 1, text }))
    const text = JSON.stringify({ segments })
    const { candidates } = transcriptOfChat({ candidates: [{ content: [{ type: 'text', text }] }] }, asked)
    expect(candidates[0]!.content).toEqual([{ type: 'text', text: '你好。再见' }])
  })

  test('in a code fence', () => expect(segmentsIn(`\`\`\`json\n${one('00:01', '00:02')}\n\`\`\``)).toHaveLength(1))

  test.each([
    ['words', one('soon', '00:02')],
    ['an end before the beginning', one('00:03', '00:02')],
    ['no end', one('00:03', undefined)],
    ['not an object', 'It was said.'],
    ['not a list', '{"segments":"a"}'],
  ])('%s: no times', (_, text) => expect(segmentsIn(text)).toBeUndefined())
})
