import type { MediaPart, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import { flatJoin } from '../../canonical/flat.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import { type Json, type JsonObject, type Node, parseObject } from '../../canonical/node.ts'
import { defined, kept, spelt } from '../fields.ts'
import { writeMade } from '../media/image-settings.ts'
import { FORMAT } from './content.ts'

/* The items that are written alike in a history and in an answer. */

/** The source of an item's id and status: the item itself, or its writer. */
export type Stamp = (spelling: JsonObject, prefix: string) => JsonObject

export const isOwnItem = (spelling: JsonObject): boolean => spelling['id'] !== undefined

export const ownStamp: Stamp = ({ id, status, role }) =>
  defined({ id: id ?? undefined, status: status ?? undefined, role: role ?? undefined }) as JsonObject

/** Upstreams look up ids they are sent, and fail for those they have not stored (trap 34). */
export const withoutId: Stamp = () => ({})

/** The prefix of ids that the gateway generates for thoughts of other formats. */
export const FOREIGN_THOUGHT = 'rs_il_'

/** The item's own id and status; one without gets an id made of the answer's, and the current status. */
export const ownOrGenerated =
  (base: string, index: number, status: string): Stamp =>
  (own, prefix) => {
    if (isOwnItem(own)) return ownStamp(own, prefix)
    if (prefix === 'rs') return { id: flatJoin(FOREIGN_THOUGHT, base, '_', index) }
    return { id: flatJoin(prefix, '_', base, '_', index), status }
  }

/** A call; empty arguments are `{}`, exactly once (trap 8). */
export function writeCall(part: ToolCallPart, stamp: Stamp): JsonObject {
  const own = spelt(part, FORMAT)
  const type = part.freeform ? 'custom_tool_call' : 'function_call'
  return {
    type,
    ...stamp(own, part.freeform ? 'ctc' : 'fc'),
    ...(own['call'] === 'absent' ? {} : { call_id: part.id }),
    name: part.name,
    ...defined({ namespace: part.namespace }),
    ...writeArguments(part, own),
    ...kept(part, FORMAT),
  }
}

function writeArguments({ arguments: text, freeform }: ToolCallPart, own: JsonObject): JsonObject {
  if (own['arguments'] === 'absent' && text === '') return {}
  if (freeform) return { input: text }
  if (own['arguments'] === 'object') return { arguments: parseObject(text) ?? text }
  return { arguments: text === '' && !isOwnItem(own) ? '{}' : text }
}

/** The separator between the sections of a thought. */
export const CUT = '\n\n'

/** The sections of a thought by its cuts; without cuts it is one, or none where it is empty. */
export function sectionsOf(text: string, cuts: readonly number[] | undefined): readonly string[] {
  if (cuts == null) return text === '' ? [] : [text]
  const ends = [...cuts, text.length]
  return ends.map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1]! + CUT.length, end))
}

/** A thought: as a summary, or in full where its upstream sent it so. */
export function writeReasoningItem(part: ReasoningPart, stamp: Stamp, proof: string | undefined): JsonObject {
  const own = spelt(part, FORMAT)
  const inContent = own['as'] === 'content'
  const sections = sectionsOf(part.text, own['cuts'] as readonly number[] | undefined)
  return {
    type: 'reasoning',
    ...stamp(own, 'rs'),
    ...(own['summary'] === 'absent' ? {} : { summary: inContent ? [] : sections.map(summaryText) }),
    ...(inContent ? { content: sections.map(reasoningText) } : own['content'] === 'empty' ? { content: [] } : {}),
    ...defined({ encrypted_content: proof }),
    ...kept(part, FORMAT),
  }
}

export const summaryText = (text: string): JsonObject => ({ type: 'summary_text', text })
export const reasoningText = (text: string): JsonObject => ({ type: 'reasoning_text', text })

/** A generated image, written as a call of the drawing tool: this format has no other place for one. */
export function writePicture(part: MediaPart, stamp: Stamp): JsonObject {
  const { source } = part
  if (source.type !== 'base64') return {}
  const own = spelt(part, FORMAT)
  return {
    type: 'image_generation_call',
    ...stamp(own, 'ig'),
    result: source.data,
    ...(own['output_format'] === 'absent' ? {} : { output_format: outputFormatOf(source.mediaType) }),
    ...writeMade(part.made),
    ...kept(part, FORMAT),
  }
}

const outputFormatOf = (mediaType: string): string => mediaType.replace(/^image\//, '')

const PICTURE_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'made'> = {
  name: 'no-name-of-images',
  detail: 'no-detail-here',
  transcript: 'no-transcript-here',
  use: 'no-masks-here',
  cache: 'no-cache-markers-here',
}

/** Reports the fields of an answer's image that this format lacks. */
export function reportPicture(part: MediaPart, path: Path, losses: Losses): void {
  losses.dropFields(part, path, PICTURE_LOSSES)
  if (part.source.type !== 'base64') return
  const read = `image/${outputFormatOf(part.source.mediaType)}`
  if (read !== part.source.mediaType) losses.change([...path, 'source', 'mediaType'], read, 'pictures-only')
}

/** A message of the assistant around its content; its first part carries the message's own fields. */
export function writeMessageItem(first: Node, content: Json | undefined, stamp: Stamp): JsonObject {
  const own = (spelt(first, FORMAT)['message'] as JsonObject | undefined) ?? {}
  const extras = isOwnItem(own) ? (first.extras?.[FORMAT]?.['message'] as JsonObject | undefined) : undefined
  return {
    ...(own['type'] === 'absent' ? {} : { type: 'message' }),
    ...stamp(own, 'msg'),
    role: 'assistant',
    ...(content === undefined ? {} : { content }),
    ...kept({ extras: { [FORMAT]: extras ?? {} }, spelling: { [FORMAT]: own } }, FORMAT),
  }
}
