import { describe, expect, test } from 'vitest'
import { joinedTexts, segmentsOf } from '../../../src/canonical/media/segments.ts'

const spoken = (word: string, start: number, end = start + 0.2, speaker?: string) => ({
  word,
  start,
  end,
  ...(speaker === undefined ? {} : { speaker }),
})
const textsOf = (words: Parameters<typeof segmentsOf>[0], whole = words.map(({ word }) => word).join(' ')) =>
  segmentsOf(words, whole).map(({ text }) => text)

test.each([
  ['of languages with spaces', [' Hello', 'there. '], 'Hello there.'],
  ['of Chinese', ['今天天气很好。', '对'], '今天天气很好。对'],
  ['of Japanese', ['はい、', 'そうです'], 'はい、そうです'],
  ['of Thai', ['สวัสดี', 'ครับ'], 'สวัสดีครับ'],
  ['of Korean', ['안녕', '하세요'], '안녕 하세요'],
  ['of two languages', ['今天', 'Hello', '好'], '今天 Hello 好'],
  ['beside empty ones', ['', '今天', ' ', '好', ''], '今天好'],
])('texts of segments %s are joined with the spaces of the language', (_, texts, joined) =>
  expect(joinedTexts(texts)).toBe(joined),
)

describe('segments made of words', () => {
  test('have the times of their words', () => {
    expect(segmentsOf([spoken('It', 1), spoken('is.', 1.2), spoken('Yes', 1.5)], 'It is. Yes')).toEqual([
      { start: 1, end: 1.4, text: 'It is.' },
      { start: 1.5, end: 1.7, text: 'Yes' },
    ])
  })

  test.each([
    ['a sentence', [spoken('One.', 0), spoken('Two', 0.3)], ['One.', 'Two']],
    [
      'a sentence in quotes',
      [spoken('„One!“', 0), spoken('two?”', 0.3), spoken('Three', 0.6)],
      ['„One!“ two?”', 'Three'],
    ],
    ['a sentence without spaces', [spoken('好。', 0), spoken('是', 0.3)], ['好。', '是']],
    ['a speaker', [spoken('One', 0, 0.2, 'A'), spoken('two', 0.3, 0.5, 'B')], ['One', 'two']],
    ['a silence', [spoken('One', 0), spoken('two', 2)], ['One', 'two']],
    ['no number', [spoken('1.5', 0), spoken('times', 0.3)], ['1.5 times']],
  ])('end with %s', (_, words, texts) => expect(textsOf(words)).toEqual(texts))

  test.each([
    [
      'of a language without spaces',
      ['今天', '天气', '很', '好。', '对'],
      '今天天气很好。对',
      ['今天天气很好。', '对'],
    ],
    ['with a hyphen', ['well', 'known'], 'well-known', ['well-known']],
    ['of two languages', ['ChatGPT', 'は', 'really', 'nice'], 'ChatGPTは really nice', ['ChatGPTは really nice']],
    ['beside sounds that are no words', ['Well', 'no'], 'Well (laughs) no', ['Well no']],
    ['that the text has not', ['one', 'too', 'three'], 'one two three', ['one too three']],
    ['without a text', ['one', 'two'], '', ['one two']],
  ])('have the spaces of the text: words %s', (_, words, whole, texts) =>
    expect(
      textsOf(
        words.map((word, index) => spoken(word, index * 0.3)),
        whole,
      ),
    ).toEqual(texts),
  )

  test('never grow too long to be read', () => {
    const words = Array.from({ length: 100 }, (_, index) => spoken('so', index * 0.3))
    for (const { start, end } of segmentsOf(words, 'so '.repeat(100))) expect(end - start).toBeLessThanOrEqual(7)
    expect(textsOf(words).join(' ')).toBe(words.map(({ word }) => word).join(' '))
  })

  test('of nothing are none', () => expect(segmentsOf([], '')).toEqual([]))
})
