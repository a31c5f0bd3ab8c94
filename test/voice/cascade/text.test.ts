import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { messagesOf } from '../../../src/voice/cascade/messages.ts'
import { Playback } from '../../../src/voice/cascade/playback.ts'
import { Sentences } from '../../../src/voice/cascade/sentences.ts'
import { spokenText } from '../../../src/voice/cascade/spoken-text.ts'
import { TIMED } from '../../builders/time.ts'

function sentencesOf(pieces: readonly string[], language?: string): string[] {
  const sentences = new Sentences(language)
  const all = pieces.flatMap(piece => sentences.push(piece))
  return [...all, sentences.flush()].filter(one => one !== '')
}

const TEXT = fc.array(
  fc.constantFrom('Hello', ' ', '. ', '! ', ', ', '\n', 'world', '你好', '。', '3.5', '🎉', 'x'.repeat(120)),
  {
    maxLength: 60,
  },
)

describe('sentences', () => {
  it('are the whole text and nothing else, wherever it is cut', () => {
    fc.assert(
      fc.property(TEXT, pieces => {
        const text = pieces.join('')
        const found = sentencesOf(pieces)
        expect(found.join('')).toBe(text)
        for (const sentence of found) {
          expect(sentence.length).toBeLessThanOrEqual(300)
          expect(sentence.isWellFormed()).toBe(true)
        }
      }),
    )
  })

  it.each([
    ['one by one', 'It is sunny today. Take a hat with you! Or not?', 3],
    ['with numbers inside', 'Version 3.5 costs 1,000.50 dollars. Buy it now.', 2],
    ['with short ones before others', 'Yes. No. Well. I do not know that.', 2],
    ['of other scripts', '今天天气很好，我们去公园吧，好不好。你想和我一起去公园散步吗？', 2],
    ['by lines', 'First of all this\nthen the other thing', 2],
  ])('are found %s', (_, text, count) => {
    expect(sentencesOf([...text]).length).toBe(count)
    expect(sentencesOf([text]).length).toBe(count)
  })

  it('are there as soon as the next one begins', () => {
    const sentences = new Sentences()
    expect(sentences.push('It is sunny today.')).toEqual([])
    expect(sentences.push(' T')).toEqual(['It is sunny today. '])
  })

  it('without an end are cut at a clause or a word', () => {
    const clause = `${'a few words and more of them '.repeat(5)}, ${'a few words and more of them '.repeat(20)}`
    expect(sentencesOf([clause])[0]).toMatch(/, $/)
    expect(sentencesOf(['word '.repeat(200)])[0]).toMatch(/word $/)
    expect(sentencesOf(['x'.repeat(1000)]).map(({ length }) => length)).toEqual([300, 300, 300, 100])
  })

  it('of a long text take no more time than its length', TIMED, () => {
    const text = 'A sentence of some words. '.repeat(20_000)
    const before = performance.now()
    expect(sentencesOf([text]).length).toBe(20_000)
    expect(performance.now() - before).toBeLessThan(5000)
  })

  it('of a language there is none of are found all the same', () => {
    expect(sentencesOf(['One sentence here. And another.'], 'not a language!').length).toBe(2)
  })
})

describe('what is spoken', () => {
  it.each([
    ['**Bold** and *slanted* and ***both***', 'Bold and slanted and both'],
    ['`code` and [a link](https://x.y)', 'code and a link'],
    ['# Title', 'Title'],
    ['- point', 'point'],
    ['2 * 3, a*b, snake_case', '2 * 3, a*b, snake_case'],
    ['_very_ good 👍🏽', 'very good'],
    ['1. First', '1. First'],
    ['- one\n\n  - two\n> three', 'one\n\ntwo\nthree'],
    ['[a list][0] and [an image: ![x](y)](z)', '[a list][0] and [an image: x](z)'],
  ])('of %s', (text, words) => {
    expect(spokenText(text)).toBe(words)
  })

  it.each(['[', '[](', '\n', '# '])('of "%s" a hundred thousand times takes no more time than its length', piece => {
    const before = performance.now()
    spokenText(`a${piece.repeat(100_000)}a`)
    expect(performance.now() - before).toBeLessThan(2000)
  })
})

describe('what was played', () => {
  const SENTENCES = ['One two three. ', 'Four five six. ', 'Seven.']
  const playback = (sent: readonly number[]): Playback => {
    const made = new Playback()
    for (const [index, ms] of sent.entries()) {
      made.startSentence(SENTENCES[index]!)
      made.sent(ms * 48)
      if (index < sent.length - 1 || sent.length === SENTENCES.length) made.end()
    }
    return made
  }

  it('is a prefix of the text that grows with the time, word by word', () => {
    const text = SENTENCES.join('')
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 3 }),
        fc.nat(9000),
        fc.nat(9000),
        (sent, a, b) => {
          const [early, late] = [Math.min(a, b), Math.max(a, b)].map(ms => {
            const made = playback(sent)
            made.truncate(ms)
            return made.text
          }) as [string, string]
          expect(text.startsWith(late)).toBe(true)
          expect(late.startsWith(early)).toBe(true)
          expect(early === '' || early === text || /\s/.test(text[early.length] ?? ' ') || early.endsWith(' ')).toBe(
            true,
          )
        },
      ),
    )
  })

  it('is everything where all was sent, and what was sent where it was not', () => {
    expect(playback([900, 900, 400]).text).toBe(SENTENCES.join(''))
    expect(playback([900, 0]).text).toBe(SENTENCES[0])
    expect(playback([]).text).toBe('')
  })

  it('grows no more once it was truncated', () => {
    const made = playback([900, 900, 400])
    made.truncate(900)
    made.truncate(5000)
    expect(made.text).toBe(SENTENCES[0])
  })
})

describe('messages', () => {
  it('leave out what is empty or was broken off, and join what an assistant did in a row', () => {
    const call = (id: string, status: 'completed' | 'incomplete') =>
      ({ role: 'assistant', status, content: [{ type: 'tool-call', id, name: 'f', arguments: '{' }] }) as const
    const text = (role: 'user' | 'assistant', words: string) =>
      ({ role, content: [{ type: 'text', text: words }] }) as const
    const result = { role: 'tool', content: [{ type: 'tool-result', id: 'a', content: [] }] } as const
    expect(
      messagesOf([
        text('user', 'Hi.'),
        text('user', ' '),
        text('assistant', 'So.'),
        call('a', 'completed'),
        call('b', 'incomplete'),
        result,
      ]),
    ).toEqual([
      text('user', 'Hi.'),
      { role: 'assistant', content: [{ type: 'text', text: 'So.' }, call('a', 'completed').content[0]] },
      result,
    ])
  })
})
