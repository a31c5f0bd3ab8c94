import type {
  Annotation,
  MediaPart,
  Part,
  ReasoningPart,
  Signature,
  TextPart,
  ToolCallPart,
} from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { EndContent, Finish, TokenLogprob } from '../../canonical/result.ts'
import { wrapReasoning } from '../../canonical/signature.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import { finishWord, reportCitations, requiredFields } from '../openai-answer.ts'
import { around, FORMAT, writeLink } from './content.ts'

/* Code shared by unary messages and stream chunks: citations, log probabilities, images, finish reasons. */

/** Returns true if the citation is a top-level answer field, outside the choices, as in Perplexity's answers. */
const isTopLevelCitation = (annotation: Annotation): boolean =>
  annotation.type === 'citation' && spellingFor(annotation, FORMAT)['beside'] === true

/**
 * Writes a citation. Returns undefined if it belongs outside the choices. `offset` is the start of its text part within
 * the message's text, in UTF-16 units.
 */
export function writeAnnotation(annotation: Annotation, offset: number): JsonObject | undefined {
  if (annotation.type === 'opaque') return annotation.format === FORMAT ? annotation.value : undefined
  if (isTopLevelCitation(annotation)) return undefined
  const { url } = annotation
  const { title, start, end } = requiredFields(annotation)
  return around(annotation, 'url_citation', { url, title, start_index: start + offset, end_index: end + offset })
}

/** Writes the log probability of a token and of its alternatives. Alternatives have no further alternatives. */
export const writeLogprob = (token: TokenLogprob): JsonObject => writeToken(token, token.top ?? [])

function writeToken({ token, logprob, bytes, ...node }: TokenLogprob, top: TokenLogprob['top']): JsonObject {
  const top_logprobs = top?.map(alternative => writeToken(alternative, alternative.top))
  return {
    token,
    logprob,
    bytes: bytes ?? null,
    ...(defined({ top_logprobs }) as JsonObject),
    ...extrasFor(node, FORMAT),
  }
}

/** Returns true if the reasoning part carries Google's thought signature of the call right after it (trap 31). */
export const signsCall = (part: Part, next: Part | undefined): boolean =>
  part.type === 'reasoning' && !part.redacted && part.signature?.format === 'contents' && next?.type === 'tool-call'

/** The field for a call's signature in Google's OpenAI-compatible API. */
export const signatureExtra = (signature: string): JsonObject => ({
  extra_content: { google: { thought_signature: signature } },
})

/**
 * Returns the signature of a call as an answer shows it. The signature of another format's upstream is wrapped, so that
 * the gateway can keep it from upstreams of this format, which refuse the field.
 */
export const shownSignature = (part: Part, signature: Signature): string =>
  isOfUpstream(part) ? signature.value : wrapReasoning([{ signature }], FORMAT)

/** Returns true if an upstream of this format wrote the signature, and not the gateway. */
export const isOfUpstream = (part: Part): boolean => spellingFor(part, FORMAT)['signature'] === 'call'

/** Returns true for reasoning without readable text, for which the format has no field. */
export const isHidden = (part: ReasoningPart): boolean =>
  part.redacted === true || (part.text === '' && part.signature !== undefined)

/**
 * Returns true if the part is generated audio. Audio at a URL does not count, because a message has no field for it.
 */
export const isAudio = (part: Part): part is MediaPart =>
  part.type === 'media' && part.kind === 'audio' && part.source.type === 'base64'

/** Writes the start of a call. In a stream, its arguments are empty and follow in later chunks, except in whole calls. */
export function callHead(part: ToolCallPart): { readonly type: string; readonly inner: JsonObject } {
  return part.freeform
    ? { type: 'custom', inner: { name: part.name, input: part.arguments } }
    : { type: 'function', inner: { name: part.name, arguments: part.arguments } }
}

/** Returns the field for reasoning text: the one that the upstream used, or `reasoning_content` by default. */
export const reasoningField = (part: Part): string =>
  spellingFor(part, FORMAT)['field'] === 'reasoning' ? 'reasoning' : 'reasoning_content'

/** Returns true if the part is an image that `images` can hold: base64 data or a URL. */
export const isImage = (part: Part): part is MediaPart =>
  part.type === 'media' && part.kind === 'image' && (part.source.type === 'base64' || part.source.type === 'url')

const IMAGE_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'detail' | 'cache'> = {
  name: 'no-name-here',
  transcript: 'no-transcript-here',
  use: 'no-masks-here',
  made: 'no-properties-here',
}

/**
 * Writes the image as an entry of `images`. OpenRouter defines this field next to `content`; OpenAI has no field for
 * images.
 */
export function writeImage(part: MediaPart, path: Path, losses: Losses): JsonObject {
  losses.dropFields(part, path, IMAGE_LOSSES)
  return writeLink(part, 'image_url', path, { dialect: {}, losses })!
}

/**
 * Writes the finish reason. In an answer with calls, `stop` becomes `tool_calls` (trap 13). If an upstream ends a
 * refusal with `stop`, the reason remains `stop`, because OpenAI's clients treat `content_filter` as a failure.
 */
export function writeFinish(finish: Finish | undefined, { called, refused }: EndContent): string {
  const finishReason = finishWord(finish?.reason ?? 'stop')
  if (finish?.reason === 'refused' && refused && finish.raw === 'stop') return 'stop'
  return finishReason === 'stop' && called ? 'tool_calls' : finishReason
}

/** A text part and its offset in the message. */
interface TextAtOffset {
  readonly part: TextPart
  readonly path: Path
  /** Start of the part in the text of the message, in UTF-16 units. */
  readonly offset: number
}

/** Joins the text parts of an answer into the single string of a message. Citation offsets refer to that string. */
export class Texts {
  private readonly list: TextAtOffset[] = []
  private length = 0

  get hasText(): boolean {
    return this.list.length > 0
  }

  add(textPart: TextPart, path: Path): void {
    const part = textPart.annotations?.some(isTopLevelCitation) ? withoutTopLevelCitations(textPart) : textPart
    this.list.push({ part, path, offset: this.length })
    this.length += part.text.length
  }

  joined(losses: Losses): { readonly text: string; readonly annotations: readonly JsonObject[] } {
    const text = this.list.map(({ part }) => part.text).join('')
    const citations = this.list.flatMap(({ part, offset }) => (part.annotations ?? []).map(one => ({ one, offset })))
    if (this.list.length > 1 && citations.length > 0) this.reportJoin(text, losses)
    else this.reportQuotes(losses)
    return {
      text,
      annotations: citations.map(({ one, offset }) => writeAnnotation(one, offset)).filter(one => one !== undefined),
    }
  }

  /** Reports the joined text as a change. Joining only loses information if a text part has citations. */
  private reportJoin(text: string, losses: Losses): void {
    const [first, ...others] = this.list
    const annotations = this.list.flatMap(({ part, offset }) =>
      (part.annotations ?? []).flatMap(one => readBack(one, offset) ?? []),
    )
    const became = { type: 'text', text, ...(annotations.length === 0 ? {} : { annotations }) }
    losses.change(first!.path, became, 'one-text-only')
    for (const { path } of others) losses.drop(path, 'one-text-only')
  }

  private reportQuotes(losses: Losses): void {
    for (const { part, path } of this.list) reportCitations(part, path, losses)
  }
}

function withoutTopLevelCitations({ annotations = [], ...part }: TextPart): TextPart {
  const inside = annotations.filter(one => !isTopLevelCitation(one))
  return inside.length === 0 ? part : { ...part, annotations: inside }
}

/** Returns the annotation as a reader of the joined text would read it. */
function readBack(annotation: Annotation, offset: number): Annotation | undefined {
  if (annotation.type === 'opaque') return annotation.format === FORMAT ? annotation : undefined
  const { quote: _, extras, ...rest } = annotation
  const { title, start, end } = requiredFields(annotation)
  const formatExtras = extras?.[FORMAT]
  return {
    ...rest,
    ...{ title, start: start + offset, end: end + offset },
    ...(formatExtras === undefined ? {} : { extras: { [FORMAT]: formatExtras } }),
  }
}
