import type { Annotation, Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { enclose } from '../../canonical/signature.ts'
import { defined, kept, spelt } from '../fields.ts'
import { FORMAT, keptOfPart, writeAnnotation } from './content.ts'
import { isOwnItem } from './items.ts'

/* Parts of an answer, written alike in a whole answer and in a stream. */

/** The kind of item that a part of an answer becomes, if any. */
export type ItemKind = 'message' | 'reasoning' | 'call' | 'picture' | 'item' | 'nowhere'

export function itemKindOf(part: Part): ItemKind {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return 'message'
    case 'reasoning':
      return 'reasoning'
    case 'tool-call':
      return 'call'
    case 'opaque':
      if (part.format === FORMAT) return spelt(part, FORMAT)['in'] === undefined ? 'item' : 'message'
      return part.text === undefined ? 'nowhere' : 'message'
    case 'media':
      if (spelt(part, FORMAT)['as'] !== undefined) return 'message'
      return part.kind === 'image' && part.source.type === 'base64' ? 'picture' : 'nowhere'
    default:
      return 'nowhere'
  }
}

/** A part of a message, with its log probabilities. */
export function writeContent(part: Part, logprobs: readonly JsonObject[]): JsonObject {
  const own = spelt(part, FORMAT)
  switch (part.type) {
    case 'text': {
      if (own['type'] != null) return { type: own['type'], text: part.text, ...keptOfPart(part) }
      const annotations = part.annotations?.flatMap(one => writeAnnotation(one) ?? []) ?? []
      return {
        type: 'output_text',
        text: part.text,
        ...(own['annotations'] === 'absent' && annotations.length === 0 ? {} : { annotations }),
        ...(own['logprobs'] === 'absent' && logprobs.length === 0 ? {} : { logprobs }),
        ...keptOfPart(part),
      }
    }
    case 'refusal':
      return { type: 'refusal', refusal: part.text, ...keptOfPart(part) }
    case 'opaque':
      return part.format === FORMAT
        ? part.value
        : { type: 'output_text', text: part.text ?? '', annotations: [], logprobs }
    default:
      return {}
  }
}

/** Whether the part is a text that may have log probabilities; an upstream's own text only where it had them. */
export function hasLogprobs(part: Part): boolean {
  if (part.type === 'opaque') return part.format !== FORMAT
  const { type, message, logprobs } = spelt(part, FORMAT)
  return part.type === 'text' && type == null && (message === undefined || logprobs !== undefined)
}

/**
 * The value of `encrypted_content`: this format's own proof unchanged; thoughts of others whole, signed or not, for
 * clients that keep nothing else of them (traps 27, 92).
 */
export function proofOf(part: Part): string | undefined {
  if (part.type !== 'reasoning') return undefined
  const { text, signature, redacted } = part
  if (signature === undefined)
    return text === '' || isOwnItem(spelt(part, FORMAT)) ? undefined : enclose([{ text }], FORMAT)
  const isNative = signature.format === FORMAT
  return enclose([defined({ text: isNative ? undefined : text, signature, redacted })], FORMAT)
}

/** A token and, where reported, its alternatives; `bytes` is required here and empty where it is unknown. */
export function writeToken(token: TokenLogprob): JsonObject {
  const absent = spelt(token, FORMAT)['top'] === 'absent'
  return {
    ...writeAlternative(token),
    ...(absent ? {} : { top_logprobs: token.top?.map(writeAlternative) ?? [] }),
    ...kept(token, FORMAT),
  }
}

function writeAlternative(token: TokenLogprob): JsonObject {
  const absent = token.bytes === undefined && spelt(token, FORMAT)['bytes'] === 'absent'
  return {
    token: token.token,
    logprob: token.logprob,
    ...(absent ? {} : { bytes: token.bytes ?? [] }),
    ...kept(token, FORMAT),
  }
}

/** Reports the fields of a part that this format lacks. */
export function reportPart(part: Part, path: Path, losses: Losses): void {
  if (itemKindOf(part) === 'nowhere') {
    if (part.type !== 'opaque') losses.drop(path, 'no-such-content')
    return
  }
  if (part.type === 'opaque' || part.type === 'media') return
  if (part.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers-here')
  if (part.type === 'reasoning' && part.redacted !== undefined && part.signature === undefined)
    losses.drop([...path, 'redacted'], 'nothing-hidden')
  if (part.type === 'text')
    for (const [index, one] of part.annotations?.entries() ?? [])
      reportAnnotation(one, [...path, 'annotations', index], losses)
}

const DEFAULT_CITATION = { title: '', start: 0, end: 0 } as const

function reportAnnotation(annotation: Annotation, path: Path, losses: Losses): void {
  if (annotation.type === 'opaque') return
  if (annotation.quote !== undefined) losses.drop([...path, 'quote'], 'no-quotes')
  if (spelt(annotation, FORMAT)['own'] !== undefined) return
  for (const field of ['title', 'start', 'end'] as const)
    if (annotation[field] === undefined) losses.add([...path, field], DEFAULT_CITATION[field], 'minted-where-required')
}

/** An empty list of bytes means unknown in this format, as every token has bytes. */
export function reportTokens(tokens: readonly TokenLogprob[], path: Path, losses: Losses): void {
  tokens.forEach((token, index) => {
    if (token.bytes?.length === 0) losses.drop([...path, index, 'bytes'], 'no-bytes')
    if (token.top !== undefined) reportTokens(token.top, [...path, index, 'top'], losses)
  })
}
