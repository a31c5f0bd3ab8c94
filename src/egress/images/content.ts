import type { MediaPart, Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { WireFile, WireRequest } from '../../canonical/wire.ts'
import type { ImagesDialect } from '../../formats/dialects/images.ts'
import { hasBytes, imageFile } from '../media/input-images.ts'
import { joinedPrompt, promptTextOf } from '../media/prompt.ts'
import { PLAIN_MEDIA_LOSSES } from '../sanitize/unwritten.ts'
import { editsByGeneration, FORMAT, isMask, type PathedImage, writeNamed } from './named.ts'

/** Media types by output format, where they are not `image/<format>`. */
const OTHER_TYPES: { readonly [outputFormat: string]: string } = { jpg: 'image/jpeg', svg: 'image/svg+xml' }
/** Output formats by media type, where they are not its subtype. */
const OUTPUT_FORMATS: { readonly [type: string]: string } = { 'image/svg+xml': 'svg', 'image/jpg': 'jpeg' }

/** Converts an output format to its media type. */
export const typeOfOutputFormat = (outputFormat: string): string =>
  Object.hasOwn(OTHER_TYPES, outputFormat) ? OTHER_TYPES[outputFormat]! : `image/${outputFormat}`

/** Converts a media type to its output format. Defaults to PNG if it is not an image type. */
export function outputFormatOfType(mediaType: string): string {
  if (Object.hasOwn(OUTPUT_FORMATS, mediaType)) return OUTPUT_FORMATS[mediaType]!
  const name = mediaType.startsWith('image/') ? mediaType.slice('image/'.length) : ''
  return name === '' ? 'png' : name
}

/** The prompt and the images to edit. Images are references in the body (`named`) or files of a form. */
export interface InputImages {
  readonly prompt: string | undefined
  readonly named: JsonObject
  readonly files: readonly WireFile[] | undefined
}

type InputImage = PathedImage['part']

/** Returns true if the image has bytes, so that it can be a file of a form. */
const isInForm = (part: Part): boolean => part.type === 'media' && hasBytes(part)

/** Returns true if the upstream takes images to edit in JSON alone. */
export const takesJson = (dialect: ImagesDialect): boolean => dialect.edits === 'urls' || editsByGeneration(dialect)

const IMAGE_FIELDS = ['image', 'image[]', 'images', 'mask']

/** Returns true if the upstream accepts images in the shape that the caller chose: a form or JSON. */
export function acceptsUnchanged({ path, body, files }: WireRequest, { edits = 'any' }: ImagesDialect): boolean {
  if (edits === 'any' || path.endsWith('/generations')) return true
  const referencedImages = IMAGE_FIELDS.flatMap(field => [body[field] ?? []].flat())
  if (edits === 'form') return referencedImages.length === 0
  if (edits !== 'urls') return false
  return files === undefined && referencedImages.every(one => isObject(one) && typeof one['url'] === 'string')
}

/**
 * Writes the images that the upstream accepts, and joins all text parts of the turn into the prompt. Other parts are
 * lost.
 */
export function writeInputImages(
  content: readonly Part[],
  path: Path,
  dialect: ImagesDialect,
  losses: Losses,
): InputImages {
  const texts: number[] = []
  const images: number[] = []
  const masks: number[] = []
  for (const [index, part] of content.entries()) {
    const at = [...path, index]
    if (promptTextOf(part, FORMAT) !== undefined) texts.push(index)
    else if (part.type === 'opaque' && part.format !== FORMAT) continue
    else if (!isInputImage(part)) losses.drop(at, 'images-only')
    else if (dialect.edits === 'form' && !isInForm(part)) losses.drop(at, 'files-only')
    else if (isMask(part) && masks.length > 0) losses.drop(at, 'one-mask-only')
    else (isMask(part) ? masks : images).push(index)
  }
  if (images.length === 0) for (const index of masks.splice(0)) losses.drop([...path, index], 'no-picture-to-mask')
  losses.reorder(path, [...texts, ...images, ...masks], content.length, 'text-first')
  const inputImages = [...images, ...masks].map(index => ({
    part: content[index] as InputImage,
    path: [...path, index],
  }))
  const usesForm = !takesJson(dialect) && inputImages.every(({ part }) => isInForm(part))
  const promptField = { prompt: joinedPrompt(content, texts, path, FORMAT, losses) ?? '' }
  if (inputImages.length === 0) return { ...promptField, named: {}, files: undefined }
  return usesForm
    ? {
        ...promptField,
        named: {},
        files: inputImages.map(({ part, path }) => writeFile(part as MediaPart, path, images, losses)),
      }
    : { ...promptField, named: writeNamed(inputImages, dialect, losses), files: undefined }
}

const isInputImage = (part: Part): part is InputImage =>
  part.type === 'opaque' ||
  (part.type === 'media' &&
    part.kind === 'image' &&
    (part.source.type === 'file-id' ? part.source.format === FORMAT : part.source.type !== 'text'))

function writeFile(part: MediaPart, path: Path, images: readonly number[], losses: Losses): WireFile {
  losses.dropFields(part, path, PLAIN_MEDIA_LOSSES)
  return imageFile(part, path, isMask(part) ? 'mask' : images.length > 1 ? 'image[]' : 'image', FORMAT, losses)
}
