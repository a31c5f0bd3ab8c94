import type { Part } from '../../canonical/content.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { joinedTexts } from '../../canonical/media/segments.ts'
import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, Segment } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { workOf } from '../../canonical/work.ts'
import { anyText, defined } from '../fields.ts'

/**
 * Turns a chat model's answer about a recording into a transcript, which is text without reasoning. If the gateway
 * requested segments as a JSON object (egress/media/transcription-by-chat.ts), reads them from the answer. Returns the
 * results of other requests unchanged.
 */
export function transcriptOfChat(result: CanonicalResult, request: CanonicalRequest): CanonicalResult {
  if (workOf(request) !== 'transcription') return result
  return { ...result, candidates: result.candidates.map(candidate => withTranscript(candidate, request)) }
}

function withTranscript(candidate: Candidate, { output: { transcript } }: CanonicalRequest): Candidate {
  const content = candidate.content.filter(isText)
  const needsSegments = transcript?.timestamps !== undefined || transcript?.speakers === true
  const object = needsSegments ? parseObject(withoutFence(content.map(part => part.text).join(''))) : undefined
  const segments = object && segmentsIn(object)
  if (segments === undefined) return { ...candidate, content }
  const language = anyText(object?.['language'])
  return {
    ...candidate,
    content: [{ type: 'text', text: joinedTexts(segments.map(({ text }) => text)) }],
    transcript: { ...defined({ language }), segments },
  }
}

const isText = (part: Part): part is Part & { readonly type: 'text' } => part.type === 'text'

/** Removes the code fence that some models put around their object. */
function withoutFence(text: string): string {
  const trimmed = text.trim()
  const isFenced = trimmed.length >= 2 * FENCE.length && trimmed.startsWith(FENCE) && trimmed.endsWith(FENCE)
  return isFenced ? trimmed.slice(FENCE.length, -FENCE.length).replace(/^json/, '').trim() : text
}

const FENCE = '```'

/** Reads all segments. Returns undefined if a segment has no times, because times are never invented. */
function segmentsIn(object: JsonObject): readonly Segment[] | undefined {
  const list = object['segments']
  if (!Array.isArray(list)) return undefined
  const segments: Segment[] = []
  for (const item of list) {
    if (!isObject(item)) return undefined
    const start = secondsOf(item['start'])
    const end = secondsOf(item['end'])
    const text = anyText(item['text'])
    if (start === undefined || end === undefined || end < start || text === undefined) return undefined
    segments.push({ start, end, text, ...defined({ speaker: anyText(item['speaker']) }) })
  }
  return segments
}

const CLOCK = /^(?:(\d+):)?(\d{1,3}):(\d{1,2})(?:[.,:](\d{1,3}))?$/

/** Reads seconds from `01:02.345`, `1:01:02` or a plain number, because models mix these notations. */
function secondsOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value >= 0 ? value : undefined
  if (typeof value !== 'string') return undefined
  const clock = CLOCK.exec(value.trim())
  if (clock === null) return /^\d+(\.\d+)?s?$/.test(value.trim()) ? Number.parseFloat(value) : undefined
  const [, hours = '0', minutes = '0', seconds = '0', fraction = ''] = clock
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(`0.${fraction || '0'}`)
}

/** Like `transcriptOfChat`, for a streamed answer. */
export function transcriptEventsOfChat(
  read: Transducer<WireEvent, CanonicalEvent>,
  request: CanonicalRequest,
): Transducer<WireEvent, CanonicalEvent> {
  if (workOf(request) !== 'transcription') return read
  const texts = new TextsOnly()
  return {
    push: event => read.push(event).flatMap(one => texts.only(one)),
    end: () => read.end().flatMap(one => texts.only(one)),
  }
}

/** Passes only the text parts of an answer, renumbered, and the events about the whole answer. */
class TextsOnly {
  private readonly texts = new Map<string, number>()
  private readonly next = new Map<number, number>()

  only(event: CanonicalEvent): readonly CanonicalEvent[] {
    if (!('at' in event)) return event.type === 'opaque' || event.type === 'preview' ? NOTHING : [event]
    const { candidate, part } = event.at
    const key = `${candidate}/${part}`
    if (event.type === 'part-start' && event.part.type === 'text') {
      const next = this.next.get(candidate) ?? 0
      this.next.set(candidate, next + 1)
      this.texts.set(key, next)
    }
    const position = this.texts.get(key)
    return position === undefined ? NOTHING : [{ ...event, at: { candidate, part: position } }]
  }
}
