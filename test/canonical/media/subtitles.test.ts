import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readSubtitles, styleOf, writeSubtitles } from '../../../src/canonical/media/subtitles.ts'
import { holds } from '../../laws/support.ts'

const time = fc.nat(200 * 3_600_000).map(milliseconds => milliseconds / 1000)
const segmentsOf = (characters: RegExp, allowed: (text: string) => boolean) => {
  const line = fc
    .stringMatching(characters)
    .map(text => text.trim())
    .filter(text => text !== '' && allowed(text))
  const text = fc.array(line, { minLength: 1, maxLength: 2 }).map(lines => lines.join('\n'))
  return fc.array(fc.record({ start: time, end: time, text }, { noNullPrototype: true }), { maxLength: 5 })
}
/** WebVTT can express any text. SubRip cannot express text that looks like a time, and has no markup. */
const SPOKEN = {
  srt: segmentsOf(/^[\p{L}\d ,.!?<>"-]{1,12}$/u, text => !text.includes('-->')),
  vtt: segmentsOf(/^(?:[\p{L}\d ,.!?<>&;"-]|-->|&amp;|&lt;|<v A>|00:01\.000){1,12}$/u, () => true),
}
const number = fc.double({ noNaN: true })
const anything = fc.array(
  fc.record({ start: number, end: number, text: fc.string({ unit: 'grapheme' }) }, { noNullPrototype: true }),
)

describe('subtitles', () => {
  test.each(['srt', 'vtt'] as const)('%s that was written is read as it was, in the order of time', style => {
    holds(SPOKEN[style], all => {
      const inOrder = all
        .toSorted((a, b) => a.start - b.start)
        .map(segment => ({ ...segment, end: Math.max(segment.start, segment.end) }))
      expect(readSubtitles(writeSubtitles(all, style))).toEqual(inOrder)
      expect(styleOf(writeSubtitles(all, style))).toBe(style)
    })
  })

  test.each(['srt', 'vtt'] as const)('%s has a cue for each segment with words, and none that is empty', style => {
    holds(anything, all => {
      const blocks = writeSubtitles(all, style).split('\n\n').filter(Boolean)
      const cues = style === 'vtt' ? blocks.slice(1) : blocks
      expect(cues).toHaveLength(all.filter(({ text }) => text.trim() !== '').length)
      for (const [index, cue] of cues.entries()) {
        const [times, ...lines] = style === 'vtt' ? cue.split('\n') : cue.split('\n').slice(1)
        if (style === 'srt') expect(cue.split('\n')[0]).toBe(String(index + 1))
        expect(times).toMatch(/^\d{2,3}:[0-5]\d:[0-5]\d[.,]\d{3} --> \d{2,3}:[0-5]\d:[0-5]\d[.,]\d{3}$/)
        expect(lines.length).toBeGreaterThan(0)
        for (const line of lines) expect(line).not.toMatch(style === 'vtt' ? /^$|[<>]/ : /^$|-->/)
      }
    })
  })

  test('what reads as markup is said in entities in WebVTT, and as it is in SubRip', () => {
    const cues = [{ start: 0, end: 1, text: 'AT&T <b>and</b>\r\r-->', speaker: 'R&D' }]
    expect(writeSubtitles(cues, 'vtt')).toContain('\nR&amp;D: AT&amp;T &lt;b&gt;and&lt;/b&gt;\n--&gt;\n\n')
    expect(writeSubtitles(cues, 'srt')).toContain('\nR&D: AT&T <b>and</b>\n->\n\n')
  })

  test('of WebVTT are read without their markup, entities once, with who speaks', () => {
    const vtt =
      'WEBVTT\n\n00:01.000 --> 00:02.000\n<v.loud Ann &amp; Bo>It is <i>5 &lt; 6</i> &amp;lt;</v>\n\n' +
      '00:02.000 --> 00:03.000\n\n1:00:03.000 --> 1:00:04.000\n<00:03.500><c.x>Yes</c>\n'
    expect(readSubtitles(vtt)).toEqual([
      { start: 1, end: 2, text: 'It is 5 < 6 &lt;', speaker: 'Ann & Bo' },
      { start: 3603, end: 3604, text: 'Yes' },
    ])
  })

  test('times roll over, texts end no cue, and who speaks is said', () => {
    const cues = [
      { start: 59.9996, end: 3661.5, text: ' one\n\ntwo --> three ' },
      { start: 3661.5, end: 3662, text: 'yes', speaker: 'A' },
    ]
    expect(writeSubtitles(cues, 'srt')).toBe(
      '1\n00:01:00,000 --> 01:01:01,500\none\ntwo -> three\n\n2\n01:01:01,500 --> 01:01:02,000\nA: yes\n\n',
    )
  })

  test('of no segments are empty', () => {
    expect(writeSubtitles([], 'srt')).toBe('')
    expect(writeSubtitles([], 'vtt')).toBe('WEBVTT\n\n')
  })

  test('with marks, settings and notes are read', () => {
    const vtt =
      '\ufeffWEBVTT - a talk\r\n\r\nNOTE nothing\r\n\r\nfirst\r\n01:02.5 --> 01:03.250 align:start\r\nHello\r\nyou\r\n'
    expect(readSubtitles(vtt)).toEqual([{ start: 62.5, end: 63.25, text: 'Hello\nyou' }])
  })

  test('of anything else have no cues', () => {
    holds(fc.string(), text => void readSubtitles(text))
    expect(readSubtitles('no cues here')).toEqual([])
  })
})
