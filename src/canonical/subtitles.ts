import type { Segment } from './result.ts'

/** The two subtitle formats: how a time is written, and what stands before the first cue. */
const STYLES = {
  srt: { comma: ',', head: '', numbered: true },
  vtt: { comma: '.', head: 'WEBVTT\n\n', numbered: false },
} as const

export type SubtitleStyle = keyof typeof STYLES

/** Segments as SubRip or WebVTT text; a cue's text has no empty line, which would end it. Times are cut to milliseconds. */
export function writeSubtitles(segments: readonly Segment[], style: SubtitleStyle): string {
  const { comma, head, numbered } = STYLES[style]
  const cues = segments.map(({ start, end, text, speaker }, index) => {
    const said = text
      .trim()
      .replace(/\s*\n\s*/g, '\n')
      .replaceAll('-->', '->')
    const voice = speaker === undefined ? said : `${speaker}: ${said}`
    return `${numbered ? `${index + 1}\n` : ''}${clock(start, comma)} --> ${clock(end, comma)}\n${voice}\n\n`
  })
  return `${head}${cues.join('')}`
}

const CUE = /^((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})[ \t]+-->[ \t]+((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})/

/** The cues of SubRip or WebVTT text; whatever is no cue is passed over. */
export function readSubtitles(text: string): readonly Segment[] {
  const segments: Segment[] = []
  for (const block of text.replace(/\r\n?/g, '\n').split(/\n\n+/)) {
    const lines = block.split('\n')
    const at = lines.findIndex(line => CUE.test(line))
    const [, start, end] = CUE.exec(lines[at] ?? '') ?? []
    if (start === undefined || end === undefined) continue
    segments.push({
      start: seconds(start),
      end: seconds(end),
      text: lines
        .slice(at + 1)
        .join('\n')
        .trim(),
    })
  }
  return segments
}

/** `01:02:03,004` of 3723.004 seconds. */
function clock(time: number, comma: string): string {
  const all = Math.max(0, Math.round(time * 1000))
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const rest = String(all % 1000).padStart(3, '0')
  return `${two(all / 3_600_000)}:${two((all / 60_000) % 60)}:${two((all / 1000) % 60)}${comma}${rest}`
}

function seconds(clock: string): number {
  const milliseconds = clock
    .replace(',', '.')
    .split(':')
    .reduce((sum, part) => sum * 60 + Math.round(Number(part) * 1000), 0)
  return milliseconds / 1000
}
