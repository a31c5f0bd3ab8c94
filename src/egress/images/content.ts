import { type Bytes, HeldBytes } from '../../canonical/bytes.ts'
import type { MediaPart, OpaquePart, Part } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import { urlOfSource } from '../../canonical/media/data-url.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import type { WireFile, WireRequest } from '../../canonical/wire.ts'
import { defined } from '../fields.ts'
import type { ImagesDialect } from './dialect.ts'

export const FORMAT = 'images'

const OTHERS: { readonly [outputFormat: string]: string } = { jpg: 'image/jpeg', svg: 'image/svg+xml' }
const OUTPUT_FORMATS: { readonly [type: string]: string } = { 'image/svg+xml': 'svg', 'image/jpg': 'jpeg' }

/** The media type of an output format. */
export const typeOfOutputFormat = (outputFormat: string): string =>
  Object.hasOwn(OTHERS, outputFormat) ? OTHERS[outputFormat]! : `image/${outputFormat}`

/** The output format for a media type; PNG for anything unknown. */
export function outputFormatOfType(mediaType: string): string {
  if (Object.hasOwn(OUTPUT_FORMATS, mediaType)) return OUTPUT_FORMATS[mediaType]!
  const name = mediaType.startsWith('image/') ? mediaType.slice('image/'.length) : ''
  return name === '' ? 'png' : name
}

/** The prompt of a request, and the images it edits: named in the body, or as files of a form. */
export interface InputImages {
  readonly prompt: string | undefined
  readonly named: JsonObject
  readonly files: readonly WireFile[] | undefined
}

type Picture = MediaPart | OpaquePart

/** The index of the turn with the prompt. */
export const turnOf = (messages: readonly Message[]): number => messages.findLastIndex(({ role }) => role === 'user')

const isMask = (part: Part): boolean => part.type === 'media' && part.use === 'mask'

const FIELDS = ['image', 'image[]', 'images', 'mask']

/** Whether the upstream takes the images in the shape that their caller chose: a form, or JSON. */
export function isTakenAsItCame({ path, body, files }: WireRequest, { edits = 'any' }: ImagesDialect): boolean {
  if (edits === 'any' || path.endsWith('/generations')) return true
  const named = FIELDS.flatMap(field => [body[field] ?? []].flat())
  if (edits === 'form') return named.length === 0
  return files === undefined && named.every(one => isObject(one) && typeof one['url'] === 'string')
}

/** The images that the upstream can take, and all texts of the turn as its prompt; everything else is lost. */
export function writeInputImages(
  content: readonly Part[],
  path: Path,
  dialect: ImagesDialect,
  losses: Losses,
): InputImages {
  const texts: number[] = []
  const pictures: number[] = []
  const masks: number[] = []
  for (const [index, part] of content.entries()) {
    const at = [...path, index]
    if (textOf(part) !== undefined) texts.push(index)
    else if (part.type === 'opaque' && part.format !== FORMAT) continue
    else if (!isPicture(part)) losses.drop(at, 'pictures-only')
    else if (dialect.edits === 'form' && bytesOf(part) === undefined) losses.drop(at, 'files-only')
    else if (isMask(part) && masks.length > 0) losses.drop(at, 'one-mask-only')
    else (isMask(part) ? masks : pictures).push(index)
  }
  if (pictures.length === 0) for (const index of masks.splice(0)) losses.drop([...path, index], 'no-picture-to-mask')
  reportOrder([...texts, ...pictures, ...masks], content.length, path, losses)
  const kept = [...pictures, ...masks].map(index => ({ part: content[index] as Picture, path: [...path, index] }))
  const inForm = dialect.edits !== 'urls' && kept.every(({ part }) => bytesOf(part) !== undefined)
  const common = { prompt: promptOf(content, texts, path, losses) }
  if (kept.length === 0) return { ...common, named: {}, files: undefined }
  return inForm
    ? {
        ...common,
        named: {},
        files: kept.map(({ part, path }) => writeFile(part as MediaPart, path, pictures, losses)),
      }
    : { ...common, named: writeNamed(kept, dialect, losses), files: undefined }
}

/** The text of a part: of a text, or of another format's part that has one. */
function textOf(part: Part): string | undefined {
  if (part.type === 'text') return part.text
  return part.type === 'opaque' && part.format !== FORMAT ? part.text : undefined
}

const isPicture = (part: Part): part is Picture =>
  part.type === 'opaque' ||
  (part.type === 'media' &&
    part.kind === 'image' &&
    (part.source.type === 'file-id' ? part.source.format === FORMAT : part.source.type !== 'text'))

/** A single prompt: all texts, at the place of the first. */
function promptOf(content: readonly Part[], texts: readonly number[], path: Path, losses: Losses): string {
  const prompt = texts.map(index => textOf(content[index]!)).join('\n\n')
  const [first, ...others] = texts
  if (first !== undefined) losses.dropFields(content[first], [...path, first], TEXT_LOSSES)
  if (others.length > 0) losses.change([...path, first!, 'text'], prompt, 'one-prompt')
  for (const index of others) losses.drop([...path, index], 'said-with-the-prompt')
  return prompt
}

const TEXT_LOSSES = { cache: 'no-cache-markers', annotations: 'no-annotations' }

/** Texts first, then images, then the mask. */
function reportOrder(order: readonly number[], length: number, path: Path, losses: Losses): void {
  if (order.every((index, place) => place === 0 || index > order[place - 1]!)) return
  const there = new Set(order)
  const missing = [...Array(length).keys()].filter(index => !there.has(index))
  losses.move(path, [...order, ...missing], 'words-first')
}

function bytesOf(part: Picture): Bytes | undefined {
  if (part.type === 'opaque') return undefined
  const { source } = part
  if (source.type === 'bytes') return source.bytes
  return source.type === 'base64' ? new HeldBytes(Buffer.from(source.data, 'base64')) : undefined
}

const PICTURE_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'name' | 'made' | 'use'> = {
  cache: 'no-cache-markers',
  detail: 'no-detail-here',
  transcript: 'no-transcript-here',
}

/** An image of a form; upstreams check the file's name, so it has one. */
function writeFile(part: MediaPart, path: Path, pictures: readonly number[], losses: Losses): WireFile {
  const { mediaType } = part.source as { readonly mediaType: string }
  losses.dropFields(part, path, PICTURE_LOSSES)
  if (part.extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'nothing-beside-a-file')
  const ending = mediaType.split('/')[1]?.replace(/\+.*/, '') ?? 'png'
  const name = part.name ?? `${isMask(part) ? 'mask' : 'image'}.${ending}`
  if (part.name === undefined) losses.add([...path, 'name'], name, 'minted-file-name')
  const field = isMask(part) ? 'mask' : pictures.length > 1 ? 'image[]' : 'image'
  return { field, name, mediaType, bytes: bytesOf(part)! }
}

interface Placed {
  readonly part: Picture
  readonly path: Path
}

function writeNamed(kept: readonly Placed[], { edits }: ImagesDialect, losses: Losses): JsonObject {
  const images: Json[] = []
  let mask: Json | undefined
  for (const { part, path } of kept) {
    const wire = edits === 'urls' ? writeUrl(part, path, losses) : writeReference(part, path, losses)
    if (wire === undefined) continue
    if (isMask(part)) mask = wire
    else images.push(wire)
  }
  const [image] = images
  if (edits === 'urls' && images.length === 1) return { image: image!, ...defined({ mask }) }
  return { ...(images.length === 0 ? {} : { images }), ...(mask === undefined ? {} : { mask }) }
}

const TYPED = { type: 'image_url' }

/** The form for upstreams that take images by URL only. */
function writeUrl(part: Picture, path: Path, losses: Losses): JsonObject | undefined {
  if (part.type === 'opaque') return part.value
  const { image_url, ...others } = writeReference(part, path, losses) ?? {}
  return image_url === undefined ? others : { ...others, url: image_url, ...TYPED }
}

function writeReference(part: Picture, path: Path, losses: Losses): JsonObject | undefined {
  if (part.type === 'opaque') return part.value
  const { source } = part
  const url = source.type === 'bytes' ? dataUrl(source.mediaType, source.bytes) : urlOfSource(source)
  if (source.type !== 'file-id' && url === undefined) {
    losses.drop(path, 'no-bytes-in-json')
    return undefined
  }
  losses.dropFields(part, path, { ...PICTURE_LOSSES, name: 'no-names' })
  if ((source.type === 'url' || source.type === 'file-id') && source.mediaType !== undefined)
    losses.drop([...path, 'source', 'mediaType'], 'no-media-type-of-addresses')
  return {
    ...(source.type === 'file-id' ? { file_id: source.id } : { image_url: url! }),
    ...besideReference(part, path, losses),
  }
}

const REFERENCES: ReadonlySet<string> = new Set(['image_url', 'file_id', 'url', 'type'])

/** The format's own extras of an image, without other references to it. */
function besideReference({ extras }: MediaPart, path: Path, losses: Losses): JsonObject {
  const entries = Object.entries(extras?.[FORMAT] ?? {})
  for (const [field] of entries)
    if (REFERENCES.has(field)) losses.drop([...path, 'extras', FORMAT, field], 'named-once')
  return Object.fromEntries(entries.filter(([field]) => !REFERENCES.has(field)))
}

const dataUrl = (mediaType: string, bytes: Bytes): string | undefined =>
  bytes instanceof HeldBytes ? urlOfSource({ type: 'base64', mediaType, data: bytes.toJSON() }) : undefined
