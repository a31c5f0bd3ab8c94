import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult, Transcript } from '../../canonical/result.ts'
import { anyNumber, defined } from '../fields.ts'

/* Transcripts of vendors whose answers have times whether or not they were requested. */

/** The transcript of an answer, with the facts that the request wants. */
export function transcribed(
  id: string | undefined,
  text: string,
  { words, ...facts }: { readonly [F in keyof Transcript]: Transcript[F] | undefined },
  { output }: CanonicalRequest,
): CanonicalResult {
  const { timestamps, speakers } = output.transcript ?? {}
  const isTimed = timestamps !== undefined || speakers === true
  const transcript = defined({ ...facts, words: timestamps?.includes('word') === true ? words : undefined })
  return {
    ...defined({ id }),
    candidates: [{ content: [{ type: 'text', text }], finish: { reason: 'stop' }, ...(isTimed ? { transcript } : {}) }],
  }
}

/** When something was said; undefined where either end is missing. */
export function timesOf(wire: JsonObject): { readonly start: number; readonly end: number } | undefined {
  const start = anyNumber(wire['start'])
  const end = anyNumber(wire['end'])
  return start === undefined || end === undefined ? undefined : { start, end }
}
