import type { Part, TextPart } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten, Written } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, Finish, TokenLogprob } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { extrasFor, spellingFor } from '../fields.ts'
import { finishWord, reportFinish, stopField, writeAnswer } from '../openai-answer.ts'
import { NO_BYTES, NO_TIMES } from '../sanitize/unwritten.ts'
import { FORMAT, textOf } from './request.ts'

/** Writes a unary answer as a `text_completion` (docs/wire/completions.md#response). */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const isNative = spellingFor(result, FORMAT)['own'] === true
  const { length } = result.candidates
  return writeAnswer(result, request, {
    format: FORMAT,
    object: 'text_completion',
    writeChoice: (candidate, index, losses) =>
      writeChoice(candidate, index, isNative ? '' : echoOf(request, index, length), losses),
  })
}

function writeChoice(candidate: Candidate, index: number, echo: string, losses: Losses): JsonObject {
  const path = ['candidates', index]
  losses.dropFields(candidate, path, NO_TIMES)
  const text = echo + writeTexts(candidate.content, [...path, 'content'], losses)
  if (echo !== '')
    losses.list.push({
      kind: 'inserted',
      path: [...path, 'content', 0],
      value: { type: 'text', text: echo },
      ...ECHO_LOSS,
    })
  const { finish, logprobs } = candidate
  const finish_reason = writeFinish(finish)
  const stopFields = stopField(candidate, FORMAT)
  reportFinish(finish, finish_reason, path, losses, stopFields)
  if (logprobs !== undefined) reportLogprobs(logprobs, [...path, 'logprobs'], losses)
  const writtenLogprobs = logprobs === undefined ? null : writeLogprobs(logprobs, echo.length)
  return { index, text, logprobs: writtenLogprobs, finish_reason, ...stopFields, ...extrasFor(candidate, FORMAT) }
}

/** Reason for an inserted echo. The loss is hidden because the caller requested the echo. */
const ECHO_LOSS = { reason: 'echoed', restored: true } as const

/** Writes the finish reason. `tool_calls` becomes `stop`, because the format has no tool calls. */
export function writeFinish(finish: Finish | undefined): string | null {
  const finishWordOrNone = finish && finishWord(finish.reason)
  return finishWordOrNone === 'tool_calls' ? 'stop' : (finishWordOrNone ?? null)
}

/** Returns the text of a part, including a refusal's text, or undefined if the part has none. */
export const textIn = (part: Part): string | undefined => (part.type === 'refusal' ? part.text : textOf(part))

/** Joins all text parts of an answer into the text of a completion. */
function writeTexts(content: readonly Part[], path: Path, losses: Losses): string {
  let text = ''
  for (const [index, part] of content.entries()) {
    text += textIn(part) ?? ''
    reportPart(part, [...path, index], losses)
  }
  return text
}
const TEXT_LOSSES: Unwritten<TextPart, 'type' | 'text'> = { annotations: 'no-citations', cache: 'no-cache-markers' }

function reportPart(part: Part, path: Path, losses: Losses): void {
  if (part.type === 'text') losses.dropFields(part, path, TEXT_LOSSES)
  else if (part.type === 'refusal') losses.change(path, { type: 'text', text: part.text }, 'said-as-text')
  else if (part.type === 'reasoning') losses.drop(path, 'no-reasoning')
  else if (part.type === 'tool-call') losses.drop(path, 'no-tool-calls')
  // `foreignLosses` reports opaque parts.
  else if (part.type !== 'opaque') losses.drop(path, 'text-only')
}

/**
 * Returns the prompt that a choice must repeat before its text, if the caller requested an echo and the upstream did
 * not send one. Choices are ordered by prompt (docs/wire/completions.md#prompts).
 */
export function echoOf({ messages, output }: CanonicalRequest, index: number, choices: number): string {
  if (output.completion?.echo !== true || messages.length === 0) return ''
  const choicesPerPrompt = Math.max(1, Math.floor(choices / messages.length))
  const prompt = messages[Math.min(messages.length - 1, Math.floor(index / choicesPerPrompt))]!
  return prompt.content.map(part => textOf(part) ?? '').join('')
}

/**
 * Writes tokens as the four parallel lists of a choice (docs/wire/completions.md#logprobs).
 *
 * @param from offset of the first token in the choice's text, in UTF-16 units.
 */
export function writeLogprobs(tokens: readonly TokenLogprob[], from: number): JsonObject {
  let offset = from
  const text_offset = tokens.map(one => {
    const at = offset
    offset += one.token.length
    return spellingFor(one, FORMAT)['offset'] ?? at
  })
  return {
    tokens: tokens.map(({ token }) => token),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ top }) => (top === undefined ? null : alternatives(top))),
    text_offset,
  }
}

/**
 * Writes the alternatives as an object keyed by token text, in their order. If several alternatives have the same text,
 * only the first is written.
 */
function alternatives(top: readonly TokenLogprob[]): Json {
  const byToken = new Map<string, number>()
  for (const { token, logprob } of top) if (!byToken.has(token)) byToken.set(token, logprob)
  return Object.fromEntries(byToken)
}

/** Reports token fields that the lists cannot express. */
function reportLogprobs(tokens: readonly TokenLogprob[], path: Path, losses: Losses): void {
  for (const [index, token] of tokens.entries()) {
    losses.dropFields(token, [...path, index], NO_BYTES)
    if (token.top !== undefined) reportAlternatives(token.top, [...path, index, 'top'], losses)
  }
}

function reportAlternatives(top: readonly TokenLogprob[], path: Path, losses: Losses): void {
  const firstIndexes = new Map<string, number>()
  for (const [index, { token }] of top.entries()) if (!firstIndexes.has(token)) firstIndexes.set(token, index)
  const writtenIndexes = new Set(firstIndexes.values())
  for (const [index, alternative] of top.entries()) {
    if (!writtenIndexes.has(index)) losses.drop([...path, index], 'same-text-twice')
    else losses.dropFields(alternative, [...path, index], { bytes: 'no-bytes-of-tokens', top: 'no-rivals-of-rivals' })
  }
  const readTokens = Object.keys(alternatives(top) as JsonObject)
    .map(token => firstIndexes.get(token)!)
    .sort((a, b) => top[b]!.logprob - top[a]!.logprob)
  losses.reorder(path, readTokens, top.length, 'the-likeliest-first')
}
