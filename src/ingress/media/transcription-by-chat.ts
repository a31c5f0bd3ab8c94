import type { Part } from '../../canonical/content.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, Segment } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { workOf } from '../../canonical/work.ts'
import { anyText, defined } from '../fields.ts'

/**
 * A model's answer about a recording as a transcript: its words alone, without its thoughts; where segments were asked
 * for as an object (egress/media/transcription-by-chat.ts), these. An answer to anything else is left as it is.
 */
export function transcriptOfChat(result: CanonicalResult, asked: CanonicalRequest): CanonicalResult {
  if (workOf(asked) !== 'transcription') return result
  return { ...result, candidates: result.candidates.map(candidate => transcribed(candidate, asked)) }
}

function transcribed(candidate: Candidate, { output: { transcript } }: CanonicalRequest): Candidate {
  const content = candidate.content.filter(isText)
  const wanted = transcript?.timestamps !== undefined || transcript?.speakers === true
  const object = wanted ? parseObject(bare(content.map(part => part.text).join(''))) : undefined
  const segments = object && segmentsIn(object)
  if (segments === undefined) return { ...candidate, content }
  const language = anyText(object?.['language'])
  return {
    ...candidate,
    content: [{ type: 'text', text: segments.map(({ text }) => text.trim()).join(' ') }],
    transcript: { ...defined({ language }), segments },
  }
}

const isText = (part: Part): part is Part & { readonly type: 'text' } => part.type === 'text'

/** Some models put their object into a fence. */
const bare = (text: string): string => /^\s*```(?:json)?\s*([\s\S]*?)\s*```\s*$/.exec(text)?.[1] ?? text

/** All the segments, or nothing where one has no times: times are never made up. */
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

/** Seconds of `01:02.345` or `1:01:02`, or of a plain number; models mix them. */
function secondsOf(said: unknown): number | undefined {
  if (typeof said === 'number') return said >= 0 ? said : undefined
  if (typeof said !== 'string') return undefined
  const clock = CLOCK.exec(said.trim())
  if (clock === null) return /^\d+(\.\d+)?s?$/.test(said.trim()) ? Number.parseFloat(said) : undefined
  const [, hours = '0', minutes = '0', seconds = '0', fraction = ''] = clock
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(`0.${fraction || '0'}`)
}

/** As `heard`, for an answer that streams. */
export function transcriptEventsOfChat(
  read: Transducer<WireEvent, CanonicalEvent>,
  asked: CanonicalRequest,
): Transducer<WireEvent, CanonicalEvent> {
  if (workOf(asked) !== 'transcription') return read
  const words = new Words()
  return {
    push: event => read.push(event).flatMap(one => words.only(one)),
    end: () => read.end().flatMap(one => words.only(one)),
  }
}

/** Lets the texts of an answer through, counted anew, and what is said of all of it. */
class Words {
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
    const place = this.texts.get(key)
    return place === undefined ? NOTHING : [{ ...event, at: { candidate, part: place } }]
  }
}
