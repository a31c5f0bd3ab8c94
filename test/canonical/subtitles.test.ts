import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readSubtitles, writeSubtitles } from '../../src/canonical/subtitles.ts'
import { holds } from '../laws/support.ts'

const time = fc.nat(200 * 3_600_000).map(milliseconds => milliseconds / 1000)
const line = fc
  .stringMatching(/^[\p{L}\d ,.!?<>"-]{1,12}$/u)
  .map(text => text.trim())
  .filter(text => text !== '' && !text.includes('-->'))
const text = fc.array(line, { minLength: 1, maxLength: 2 }).map(lines => lines.join('\n'))
const segments = fc.array(fc.record({ start: time, end: time, text }, { noNullPrototype: true }), { maxLength: 5 })

describe('subtitles', () => {
  test.each(['srt', 'vtt'] as const)('%s that was written is read as it was', style => {
    holds(segments, all => {
      expect(readSubtitles(writeSubtitles(all, style))).toEqual(all)
    })
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
