import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Segment, TokenLogprob, Word } from '../../canonical/result.ts'
import { anyNumber, anyText, defined, rest, spelling } from '../fields.ts'

const FORMAT = 'transcriptions'

/** All items of a list; undefined where a single one is malformed. */
function all<T>(wire: Json | undefined, read: (item: JsonObject, index: number) => T | undefined): T[] | undefined {
  if (!Array.isArray(wire)) return undefined
  const items: T[] = []
  for (const [index, item] of wire.entries()) {
    const one = isObject(item) ? read(item, index) : undefined
    if (one === undefined) return undefined
    items.push(one)
  }
  return items
}

export const readSegments = (wire: Json | undefined): readonly Segment[] | undefined => all(wire, readSegment)
export const readWords = (wire: Json | undefined): readonly Word[] | undefined => all(wire, readWord)
export const readLogprobs = (wire: Json | undefined): readonly TokenLogprob[] | undefined => all(wire, readToken)

const SEGMENT = new Set(['id', 'type', 'start', 'end', 'text', 'speaker', 'speaker_id'])

/** A segment of a verbose, a diarized or a streamed answer; some upstreams have another field for the speaker. */
export function readSegment(wire: JsonObject): Segment | undefined {
  const start = anyNumber(wire['start'])
  const end = anyNumber(wire['end'])
  const text = anyText(wire['text'])
  if (start === undefined || end === undefined || text === undefined) return undefined
  const speaker = anyText(wire['speaker']) ?? anyText(wire['speaker_id'])
  const named = anyText(wire['speaker']) === undefined && speaker !== undefined ? 'speaker_id' : undefined
  const refused = ['speaker', 'speaker_id'].filter(name => name !== (named ?? 'speaker') || wire[name] !== speaker)
  return {
    start,
    end,
    text,
    ...defined({ speaker }),
    ...rest(
      FORMAT,
      wire,
      SEGMENT,
      spelling({ own: true, id: wire['id'] ?? undefined, type: wire['type'] ?? undefined, speaker: named }),
      refused,
    ),
  }
}

/** A segment without an id comes from an upstream that implements half of the format: it is written in full then. */
export const inFull = ({ spelling, ...segment }: Segment): Segment =>
  spelling?.[FORMAT]?.['id'] === undefined ? segment : { spelling, ...segment }

const WORD = new Set(['word', 'start', 'end', 'speaker'])

function readWord(wire: JsonObject): Word | undefined {
  const start = anyNumber(wire['start'])
  const end = anyNumber(wire['end'])
  const word = anyText(wire['word'])
  if (start === undefined || end === undefined || word === undefined) return undefined
  const speaker = anyText(wire['speaker'])
  return {
    start,
    end,
    word,
    ...defined({ speaker }),
    ...rest(FORMAT, wire, WORD, undefined, speaker === undefined ? ['speaker'] : undefined),
  }
}

const TOKEN = new Set(['token', 'logprob', 'bytes'])

function readToken(wire: JsonObject): TokenLogprob | undefined {
  const token = anyText(wire['token'])
  const logprob = anyNumber(wire['logprob'])
  const { bytes } = wire
  if (token === undefined || logprob === undefined) return undefined
  if (bytes != null && !(Array.isArray(bytes) && bytes.every(byte => typeof byte === 'number'))) return undefined
  return {
    token,
    logprob,
    ...(Array.isArray(bytes) ? { bytes: bytes as readonly number[] } : {}),
    ...rest(FORMAT, wire, TOKEN),
  }
}
