import type { Segment } from '../result.ts'

/**
 * The two subtitle formats, with their decimal separator in times, header before the first cue, cue numbering and text
 * escaping.
 */
const STYLES = {
  srt: { comma: ',', head: '', numbered: true, quoted: (text: string) => text.replaceAll('-->', '->') },
  vtt: { comma: '.', head: 'WEBVTT\n\n', numbered: false, quoted: (text: string) => text.replace(/[&<>]/g, escaped) },
} as const

export type SubtitleStyle = keyof typeof STYLES

const ENTITIES: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escaped = (character: string): string => ENTITIES[character]!

/**
 * Writes segments as SubRip or WebVTT text (W3C WebVTT §4). Cue text is escaped so that it contains no markup, no time
 * range, and no empty line, which would end the cue. A segment without text gets no cue. Cues are in the order of their
 * beginnings, as WebVTT requires, whatever the order of an upstream. Times are rounded to milliseconds.
 */
export function writeSubtitles(segments: readonly Segment[], style: SubtitleStyle): string {
  const { comma, head, numbered, quoted } = STYLES[style]
  const cues = segments
    .filter(({ text }) => text.trim() !== '')
    .sort((a, b) => a.start - b.start || 0)
    .map(({ start, end, text, speaker }, index) => {
      const cue = speaker === undefined ? text.trim() : `${speaker}: ${text.trim()}`
      const lines = quoted(withoutBlankLines(cue))
      return `${numbered ? `${index + 1}\n` : ''}${formatTime(start, comma)} --> ${formatTime(Math.max(start, end), comma)}\n${lines}\n\n`
    })
  return `${head}${cues.join('')}`
}

/** Returns the lines of a cue without those that are blank, which would end the cue. */
const withoutBlankLines = (cue: string): string =>
  cue
    .split(/[\r\n]+/)
    .map(line => line.trim())
    .filter(line => line !== '')
    .join('\n')

const CUE_TIMES = /^((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})[ \t]+-->[ \t]+((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})/
const WEBVTT_HEADER = /^\ufeff?WEBVTT(?![^\s])/

/**
 * Detects the format of a subtitle text. Returns undefined for any other text. A text without cues counts as SubRip
 * only if it is empty.
 */
export function styleOf(text: string): SubtitleStyle | undefined {
  if (WEBVTT_HEADER.test(text)) return 'vtt'
  return text.trim() === '' || text.split(/[\r\n]/, 4).some(line => CUE_TIMES.test(line)) ? 'srt' : undefined
}

/** Reads the cues of a SubRip or WebVTT text, without markup. Blocks that are not cues are skipped. */
export function readSubtitles(text: string): readonly Segment[] {
  const textOf = WEBVTT_HEADER.test(text) ? withoutTags : (cue: string): CueText => ({ text: unescaped(cue) })
  const segments: Segment[] = []
  for (const block of text.replace(/\r\n?/g, '\n').split(/\n\n+/)) {
    const lines = block.split('\n')
    const at = lines.findIndex(line => CUE_TIMES.test(line))
    const [, start, end] = CUE_TIMES.exec(lines[at] ?? '') ?? []
    if (start === undefined || end === undefined) continue
    const cue = lines
      .slice(at + 1)
      .join('\n')
      .trim()
    if (cue !== '') segments.push({ start: seconds(start), end: seconds(end), ...textOf(cue) })
  }
  return segments
}

type CueText = Pick<Segment, 'text' | 'speaker'>

/** Removes the tags from the text of a WebVTT cue. The speaker is the name in the first voice tag. */
function withoutTags(cue: string): CueText {
  const [, speaker] = /<v(?:\.[^\s<>]*)?[ \t]([^<>\n]+)>/.exec(cue) ?? []
  // A tag needs an end. Without one in the text, every `<` would be searched for it.
  const end = cue.lastIndexOf('>') + 1
  const text = unescaped(cue.slice(0, end).replace(/<[^>]*>/g, '') + cue.slice(end))
  return speaker === undefined ? { text } : { text, speaker: unescaped(speaker.trim()) }
}

const CHARACTER_BY_ENTITY: { readonly [entity: string]: string } = {
  ...{ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&nbsp;': '\u00a0', '&lrm;': '\u200e', '&rlm;': '\u200f' },
}

/** Decodes each entity once: `&amp;lt;` becomes `&lt;`. */
const unescaped = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|nbsp|lrm|rlm);/g, entity => CHARACTER_BY_ENTITY[entity]!)

/** Maximum time, in milliseconds (1000 hours). Longer times from an upstream are capped at this value. */
const MAX_TIME_MS = 1000 * 3_600_000 - 1

/** Formats a time in seconds: 3723.004 becomes `01:02:03,004`. */
function formatTime(time: number, comma: string): string {
  const milliseconds = Math.min(Math.max(0, Math.round(time * 1000)), MAX_TIME_MS)
  const padded = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const fraction = String(milliseconds % 1000).padStart(3, '0')
  return `${padded(milliseconds / 3_600_000)}:${padded((milliseconds / 60_000) % 60)}:${padded((milliseconds / 1000) % 60)}${comma}${fraction}`
}

function seconds(clock: string): number {
  const milliseconds = clock
    .replace(',', '.')
    .split(':')
    .reduce((sum, part) => sum * 60 + Math.round(Number(part) * 1000), 0)
  return milliseconds / 1000
}
