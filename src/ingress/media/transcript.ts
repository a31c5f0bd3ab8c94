import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult, Transcript } from '../../canonical/result.ts'
import { anyNumber, defined, definedIfAny } from '../fields.ts'

/* Readers for transcripts of vendors that always send times, even if the caller did not request them. */

/**
 * Creates the result for a transcript, with only the details that the request asks for. The length of the recording is
 * always one of them, because its cost depends on it.
 */
export function transcriptResult(
  id: string | undefined,
  text: string,
  { words, ...facts }: { readonly [F in keyof Transcript]: Transcript[F] | undefined },
  { output }: CanonicalRequest,
): CanonicalResult {
  const { timestamps, speakers } = output.transcript ?? {}
  const isTimed = timestamps !== undefined || speakers === true
  const timed = { ...facts, words: timestamps?.includes('word') === true ? words : undefined }
  const transcript = definedIfAny(isTimed ? timed : { duration: facts.duration ?? facts.segments?.at(-1)?.end })
  return {
    ...defined({ id }),
    candidates: [{ content: [{ type: 'text', text }], finish: { reason: 'stop' }, ...defined({ transcript }) }],
  }
}

/** Reads start and end of a word or segment, in seconds. Returns undefined if either is missing. */
export function timesOf(wire: JsonObject): { readonly start: number; readonly end: number } | undefined {
  const start = anyNumber(wire['start'])
  const end = anyNumber(wire['end'])
  return start === undefined || end === undefined ? undefined : { start, end }
}
