/* Reads subtitles. Sources: https://www.w3.org/TR/webvtt1, and https://en.wikipedia.org/wiki/SubRip for SubRip. */

/** Text with start and end times in seconds. */
export interface SegmentFacts {
  readonly start?: number
  readonly end?: number
  readonly text?: string
  readonly speaker?: string
}

const CUE_TIMES = /^(?:(\d{2,}):)?(\d{2}):(\d{2})[.,](\d{3}) --> (?:(\d{2,}):)?(\d{2}):(\d{2})[.,](\d{3})/

const secondsOf = ([hours = '0', minutes, seconds, milliseconds]: readonly (string | undefined)[]): number =>
  Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(milliseconds) / 1000

/** Maximum number of subtitle blocks that are read. An entire day of speech has fewer. */
const MAX_BLOCKS = 50_000

/** Splits a text into blocks at empty lines. */
const blocksOf = (text: string): string[][] =>
  text
    .replaceAll('\r\n', '\n')
    .trim()
    .split(/\n{2,}/, MAX_BLOCKS)
    .map(block => block.split('\n'))

const WEBVTT_HEADER = 'WEBVTT'

/** Returns true if a text looks like subtitles. */
export const isSubtitles = (text: string): boolean =>
  text.startsWith(WEBVTT_HEADER) || blocksOf(text).some(lines => lines.slice(0, 2).some(line => CUE_TIMES.test(line)))

/** Returns the cues of SubRip or WebVTT subtitles. */
export const cuesOf = (text: string): SegmentFacts[] =>
  blocksOf(text).flatMap(lines => {
    const timeLine = lines.findIndex(line => CUE_TIMES.test(line))
    if (timeLine === -1) return []
    const times = CUE_TIMES.exec(lines[timeLine]!)!.slice(1)
    return [
      {
        start: secondsOf(times.slice(0, 4)),
        end: secondsOf(times.slice(4)),
        text: lines.slice(timeLine + 1).join('\n'),
      },
    ]
  })

/** Reports faults in SubRip. Each block must have a number that increases by one, times with a comma, and text. */
function* subRipFaults(text: string): Generator<string> {
  for (const [index, [number, times = '', ...words]] of blocksOf(text).entries()) {
    if (number !== String(index + 1)) yield `Cue ${index + 1} has the number ${number}.`
    if (!CUE_TIMES.test(times) || times.includes('.')) yield `Cue ${index + 1} has no times: ${times.slice(0, 60)}`
    if (words.length === 0) yield `Cue ${index + 1} has no text.`
  }
}

/** Reports faults in WebVTT, which must begin with its signature line and have times with a point. */
function* webVttFaults(text: string): Generator<string> {
  const [head, ...cues] = blocksOf(text)
  if (head?.[0]?.split(/[ \t]/)[0] !== WEBVTT_HEADER)
    yield `The first line is ${JSON.stringify(head?.[0]?.slice(0, 60))}.`
  for (const [index, lines] of cues.entries()) {
    const times = lines.find(line => line.includes('-->'))
    if (times !== undefined && (!CUE_TIMES.test(times) || times.includes(',')))
      yield `Cue ${index + 1} has no times: ${times.slice(0, 60)}`
  }
}

export const subtitleFaults = (format: string, text: string): string[] => [
  ...(format === 'srt' ? subRipFaults(text) : webVttFaults(text)),
]
