import type { MediaPart, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import { flatJoin } from '../../canonical/flat.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { type Json, type JsonObject, type Node, parseObject } from '../../canonical/node.ts'
import { defined, kept, spelt } from '../fields.ts'
import { writeMade } from '../media/image-settings.ts'
import { FORMAT } from './content.ts'

/* The items that stand alike in a history and in an answer. */

/** Where an item's id and state come from: from the item itself, or from whoever writes it. */
export type Stamp = (spelling: JsonObject, prefix: string) => JsonObject

export const isOwn = (spelling: JsonObject): boolean => spelling['id'] !== undefined

export const asItCame: Stamp = ({ id, status, role }) =>
  defined({ id: id ?? undefined, status: status ?? undefined, role: role ?? undefined }) as JsonObject

/** Upstreams look up ids they are shown, and fail where they keep nothing under them (trap 34). */
export const nameless: Stamp = () => ({})

/** Ids this gateway gives to thoughts of other formats: no upstream knows them. */
export const FOREIGN_THOUGHT = 'rs_il_'

/** The item's own id and state; one without gets an id out of the answer's, and the state as it is now. */
export const minted =
  (base: string, index: number, status: string): Stamp =>
  (own, prefix) => {
    if (isOwn(own)) return asItCame(own, prefix)
    if (prefix === 'rs') return { id: flatJoin(FOREIGN_THOUGHT, base, '_', index) }
    return { id: flatJoin(prefix, '_', base, '_', index), status }
  }

/** A call; arguments that say nothing are `{}`, exactly once (trap 8). */
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

function writeArguments({ arguments: said, freeform }: ToolCallPart, own: JsonObject): JsonObject {
  if (own['arguments'] === 'absent' && said === '') return {}
  if (freeform) return { input: said }
  if (own['arguments'] === 'object') return { arguments: parseObject(said) ?? said }
  return { arguments: said === '' && !isOwn(own) ? '{}' : said }
}

/** The empty line between the pieces of a thought. */
export const CUT = '\n\n'

/** The pieces a thought was cut into; uncut it is one, or none where it is empty. */
export function piecesOf(text: string, cuts: readonly number[] | undefined): readonly string[] {
  if (cuts == null) return text === '' ? [] : [text]
  const ends = [...cuts, text.length]
  return ends.map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1]! + CUT.length, end))
}

/** A thought: as a summary, or in full where that is how its upstream told it. */
export function writeReasoning(part: ReasoningPart, stamp: Stamp, proof: string | undefined): JsonObject {
  const own = spelt(part, FORMAT)
  const inContent = own['as'] === 'content'
  const pieces = piecesOf(part.text, own['cuts'] as readonly number[] | undefined)
  return {
    type: 'reasoning',
    ...stamp(own, 'rs'),
    ...(own['summary'] === 'absent' ? {} : { summary: inContent ? [] : pieces.map(summaryText) }),
    ...(inContent ? { content: pieces.map(reasoningText) } : own['content'] === 'empty' ? { content: [] } : {}),
    ...defined({ encrypted_content: proof }),
    ...kept(part, FORMAT),
  }
}

export const summaryText = (text: string): JsonObject => ({ type: 'summary_text', text })
export const reasoningText = (text: string): JsonObject => ({ type: 'reasoning_text', text })

/** A picture the model made, as if a tool of the upstream's had drawn it: this format has no other place for one. */
export function writePicture(part: MediaPart, stamp: Stamp): JsonObject {
  const { source } = part
  if (source.type !== 'base64') return {}
  const own = spelt(part, FORMAT)
  return {
    type: 'image_generation_call',
    ...stamp(own, 'ig'),
    result: source.data,
    ...(own['output_format'] === 'absent' ? {} : { output_format: wordOf(source.mediaType) }),
    ...writeMade(part.made),
    ...kept(part, FORMAT),
  }
}

const wordOf = (mediaType: string): string => mediaType.replace(/^image\//, '')

const PICTURE_LOSSES = {
  name: 'no-name-of-images',
  detail: 'no-detail-here',
  transcript: 'no-transcript-here',
  use: 'no-masks-here',
  cache: 'no-cache-markers-here',
}

/** What a picture of an answer cannot say here. */
export function reportPicture(part: MediaPart, path: Path, losses: Losses): void {
  losses.dropFields(part, path, PICTURE_LOSSES)
  if (part.source.type !== 'base64') return
  const read = `image/${wordOf(part.source.mediaType)}`
  if (read !== part.source.mediaType) losses.change([...path, 'source', 'mediaType'], read, 'pictures-only')
}

/** A message of the assistant around its content; its first part knows what the message itself says. */
export function writeSpoken(first: Node, content: Json | undefined, stamp: Stamp): JsonObject {
  const own = (spelt(first, FORMAT)['message'] as JsonObject | undefined) ?? {}
  const said = isOwn(own) ? (first.extras?.[FORMAT]?.['message'] as JsonObject | undefined) : undefined
  return {
    ...(own['type'] === 'absent' ? {} : { type: 'message' }),
    ...stamp(own, 'msg'),
    role: 'assistant',
    ...(content === undefined ? {} : { content }),
    ...kept({ extras: { [FORMAT]: said ?? {} }, spelling: { [FORMAT]: own } }, FORMAT),
  }
}
