import type { Annotation, Citation, MediaPart, Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import type { Json, JsonObject, Node } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { defined, kept, spelt } from '../fields.ts'
import { around, FORMAT } from './content.ts'

/* Parts of an answer that whole messages and chunks of a stream have in common. */

/**
 * The fields every citation has, zero or empty where unknown; those of an upstream of this same format stay as they
 * are.
 */
export const requiredFields = (citation: Citation) => {
  const { title, start, end } = citation
  return spelt(citation, FORMAT)['bare'] === true
    ? { title, start, end }
    : { title: title ?? '', start: start ?? 0, end: end ?? 0 }
}

/** A citation of the text, which begins `offset` characters into the single text of the message. */
export function writeAnnotation(annotation: Annotation, offset: number): JsonObject | undefined {
  if (annotation.type === 'opaque') return annotation.format === FORMAT ? annotation.value : undefined
  const { title, start, end } = requiredFields(annotation)
  const shift = (index: number | undefined) => (index === undefined ? undefined : index + offset)
  return around(
    annotation,
    'url_citation',
    defined({ url: annotation.url, title, start_index: shift(start), end_index: shift(end) }) as JsonObject,
  )
}

/** A token and, where reported, its alternatives, which have none themselves. */
export function writeLogprob(token: TokenLogprob): JsonObject {
  return writeToken(token, token.top === undefined && spelt(token, FORMAT)['nulls'] === undefined ? [] : token.top)
}

function writeToken({ token, logprob, bytes, top: _, ...node }: TokenLogprob, top: TokenLogprob['top']): JsonObject {
  const nulls = spelt(node, FORMAT)['nulls'] === undefined && bytes === undefined ? { bytes: null } : {}
  const top_logprobs = top?.map(rival => writeToken(rival, rival.top))
  return { token, logprob, ...nulls, ...(defined({ bytes, top_logprobs }) as JsonObject), ...kept(node, FORMAT) }
}

/** A signature right before a call, alone or of a thought, is Google's thought signature of that call (trap 31). */
export const signsCall = (part: Part, next: Part | undefined): boolean =>
  part.type === 'reasoning' && !part.redacted && part.signature?.format === 'contents' && next?.type === 'tool-call'

export const signatureExtra = (signature: string): JsonObject => ({
  extra_content: { google: { thought_signature: signature } },
})

/** Redacted reasoning has no place in the format. */
export const isHidden = (part: ReasoningPart): boolean =>
  part.redacted === true || (part.text === '' && part.signature !== undefined)

/** Whether the part is generated audio; other media have no place in a message. */
export const isAudio = (part: Part): part is MediaPart =>
  part.type === 'media' && part.kind === 'audio' && part.source.type === 'base64'

/** The head of a call; in a stream its arguments follow. */
export function callHead(part: ToolCallPart): { readonly type: string; readonly inner: JsonObject } {
  return part.freeform
    ? { type: 'custom', inner: { name: part.name, input: '' } }
    : { type: 'function', inner: { name: part.name, arguments: '' } }
}

export const nodeOf = (extras: Json | undefined, spelling: Json | undefined): Node => ({
  extras: { [FORMAT]: (extras as JsonObject | undefined) ?? {} },
  spelling: { [FORMAT]: (spelling as JsonObject | undefined) ?? {} },
})
