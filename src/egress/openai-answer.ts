import type { Citation, TextPart } from '../canonical/content.ts'
import { foreignLosses, Losses, type Path, type Written } from '../canonical/loss.ts'
import type { Format, JsonObject, Node } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import {
  type Candidate,
  type CanonicalResult,
  type EndContent,
  type Finish,
  type FinishReason,
  impliedReason,
} from '../canonical/result.ts'
import type { WireAnswer } from '../canonical/wire.ts'
import { defined, extrasFor, spellingFor } from './fields.ts'
import { nativeBodyOf, withCreated } from './native.ts'
import { NO_TASK } from './sanitize/unwritten.ts'
import { writeUsage } from './usage/openai.ts'

/** Differences between chat completion answers and text completion answers. */
interface AnswerKind {
  readonly format: Format
  readonly object: string
  writeChoice(candidate: Candidate, index: number, losses: Losses): JsonObject
}

/** Writes a unary answer for chat completions or text completions (docs/wire/mapping.md#answers). */
export function writeAnswer(
  result: CanonicalResult,
  request: CanonicalRequest,
  { format, object, writeChoice }: AnswerKind,
): Written<WireAnswer> {
  const nativeBody = nativeBodyOf(result, format)
  if (nativeBody !== undefined)
    return { wire: { status: 200, headers: {}, body: withCreated(nativeBody, result) }, losses: [] }
  const losses = new Losses(foreignLosses(result, format))
  losses.dropFields(result, [], NO_TASK)
  if (result.createdAt === undefined) losses.add(['createdAt'], 0, 'time-required')
  const body = {
    ...{ id: result.id ?? '', object, created: result.createdAt ?? 0, model: result.model ?? request.model },
    choices: result.candidates.map((candidate, index) => writeChoice(candidate, index, losses)),
    ...defined({ usage: result.usage && writeUsage(format, result.usage, losses), service_tier: result.serviceTier }),
    ...extrasFor(result, format),
  } as JsonObject
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

/** Wire word for each finish reason. */
const FINISH_WORDS: { readonly [R in FinishReason]: string } = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  refused: 'content_filter',
  paused: 'stop',
  error: 'content_filter',
  other: 'stop',
}

/** Finish reason that readers derive from each wire word. */
const REASON_BY_WORD: { readonly [word: string]: FinishReason } = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  content_filter: 'refused',
}

/** Returns the wire word for a finish reason. An error must never look like a finished answer (trap 15). */
export const finishWord = (reason: FinishReason): string => FINISH_WORDS[reason]

interface CandidateOutcome extends Node {
  readonly finish?: Finish
}

/**
 * Returns the field with the matched stop sequence, if the upstream sent one next to the finish reason, as vLLM does.
 */
export const stopField = ({ finish, ...node }: CandidateOutcome, format: Format): JsonObject =>
  finish?.stopSequence !== undefined && spellingFor(node, format)['stop_reason'] === true
    ? { stop_reason: finish.stopSequence }
    : {}

const PLAIN_CONTENT: EndContent = { called: false, refused: false }

/**
 * Reports the differences between the written finish and the canonical one.
 *
 * @param word the written wire word. Null if none was written.
 * @param beside other fields written next to the word.
 */
export function reportFinish(
  finish: Finish | undefined,
  word: string | null,
  path: Path,
  losses: Losses,
  beside: JsonObject,
  content: EndContent = PLAIN_CONTENT,
): void {
  if (word === null) return
  const meaning = word === 'stop' ? impliedReason(content) : REASON_BY_WORD[word]
  if (finish === undefined) return losses.add([...path, 'finish'], { reason: meaning }, 'reason-required')
  reportStopSequence(finish, beside, path, losses)
  if (meaning !== finish.reason) losses.change([...path, 'finish', 'reason'], meaning, 'no-such-finish')
}

/** Reports a matched stop sequence as lost, unless a field next to the finish reason states it. */
export function reportStopSequence(finish: Finish | undefined, beside: JsonObject, path: Path, losses: Losses): void {
  if (finish?.stopSequence !== undefined && beside['stop_reason'] === undefined)
    losses.drop([...path, 'finish', 'stopSequence'], 'no-stop-sequence')
}

/** Fields that the format requires in every citation. Unknown values are empty or zero. */
export const requiredFields = ({ title = '', start = 0, end = 0 }: Citation) => ({ title, start, end })

/** Reports citation fields that were filled in, and quotes, which the format cannot express. */
export function reportCitations({ annotations = [] }: TextPart, path: Path, losses: Losses): void {
  for (const [index, citation] of annotations.entries()) {
    if (citation.type === 'opaque') continue
    const at = [...path, 'annotations', index]
    if (citation.quote !== undefined) losses.drop([...at, 'quote'], 'no-quotes')
    const required = requiredFields(citation)
    for (const field of ['title', 'start', 'end'] as const)
      if (citation[field] === undefined) losses.add([...at, field], required[field], 'minted-where-required')
  }
}
