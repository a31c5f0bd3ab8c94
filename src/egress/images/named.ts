import type { MediaPart, OpaquePart } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { ImagesDialect } from '../../formats/dialects/images.ts'
import { defined } from '../fields.ts'
import { imageReference } from '../media/input-images.ts'
import { PLAIN_MEDIA_LOSSES } from '../sanitize/unwritten.ts'

/* Images to edit in JSON bodies (docs/wire/images.md#edits, docs/wire/images.md#beyond-the-description). */

export const FORMAT = 'images'

/** An image to edit, and its path in the request. */
export interface PathedImage {
  readonly part: MediaPart | OpaquePart
  readonly path: Path
}

export const isMask = (part: MediaPart | OpaquePart): boolean => part.type === 'media' && part.use === 'mask'

/** Fields for the addresses of images in a generation, by the value of the flag `edits`. */
const ADDRESS_FIELDS: { readonly [edits: string]: (addresses: readonly Json[]) => JsonObject } = {
  image: addresses => ({ image: addresses.length === 1 ? addresses[0]! : addresses }),
  numbered: addresses =>
    Object.fromEntries(addresses.map((address, index) => [index === 0 ? 'image' : `image${index + 1}`, address])),
  image_url: ([first, ...others]) =>
    others.length === 0 ? { image_url: first! } : { reference_images: [first!, ...others] },
  input_references: addresses => ({
    input_references: addresses.map(url => ({ type: 'image_url', image_url: { url } })),
  }),
}

/** Returns the path at which the upstream generates images (docs/wire/images.md#beyond-the-description). */
export const generationPath = ({ edits }: ImagesDialect): string =>
  edits === 'input_references' ? '/images' : '/images/generations'

/** Returns true if the upstream edits images where it generates them, and has no endpoint for edits. */
export const editsByGeneration = ({ edits }: ImagesDialect): boolean => Object.hasOwn(ADDRESS_FIELDS, edits ?? 'any')

/** Writes the images as fields of a JSON body. */
export function writeNamed(inputs: readonly PathedImage[], dialect: ImagesDialect, losses: Losses): JsonObject {
  const { edits = 'any' } = dialect
  if (editsByGeneration(dialect)) {
    const addresses = inputs.flatMap(input => writeAddress(input, losses) ?? [])
    return addresses.length === 0 ? {} : ADDRESS_FIELDS[edits]!(addresses)
  }
  const images: Json[] = []
  let mask: Json | undefined
  for (const { part, path } of inputs) {
    const wire = edits === 'urls' ? writeUrl(part, path, losses) : writeReference(part, path, losses)
    if (wire === undefined) continue
    if (isMask(part)) mask = wire
    else images.push(wire)
  }
  const [image] = images
  if (edits === 'urls' && images.length === 1) return { image: image!, ...defined({ mask }) }
  return { ...(images.length === 0 ? {} : { images }), ...(mask === undefined ? {} : { mask }) }
}

/** Writes an image as its address alone, which may be a data URL. */
function writeAddress({ part, path }: PathedImage, losses: Losses): Json | undefined {
  if (part.type === 'opaque') return part.value
  if (isMask(part)) return losses.drop(path, 'no-masks')
  const { image_url: address } = (part.source.type === 'file-id' ? {} : imageReference(part, path, losses)) ?? {}
  if (address === undefined) return losses.drop(path, 'no-bytes-in-json')
  losses.dropFields(part, path, PLAIN_MEDIA_LOSSES)
  if (part.extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'nothing-beside-an-address')
  return address
}

const URL_TYPE = { type: 'image_url' }

/** Writes an image for upstreams that only accept URLs. */
function writeUrl(part: PathedImage['part'], path: Path, losses: Losses): JsonObject | undefined {
  if (part.type === 'opaque') return part.value
  const { image_url, ...others } = writeReference(part, path, losses) ?? {}
  return image_url === undefined ? others : { ...others, url: image_url, ...URL_TYPE }
}

function writeReference(part: PathedImage['part'], path: Path, losses: Losses): JsonObject | undefined {
  if (part.type === 'opaque') return part.value
  const reference = imageReference(part, path, losses)
  if (reference === undefined) return losses.drop(path, 'no-bytes-in-json')
  losses.dropFields(part, path, PLAIN_MEDIA_LOSSES)
  return { ...reference, ...besideReference(part, path, losses) }
}

const REFERENCE_FIELDS: ReadonlySet<string> = new Set(['image_url', 'file_id', 'url', 'type'])

/** Returns the image's extras in this format, except for a second reference to the image. */
function besideReference({ extras }: MediaPart, path: Path, losses: Losses): JsonObject {
  const entries = Object.entries(extras?.[FORMAT] ?? {})
  for (const [field] of entries)
    if (REFERENCE_FIELDS.has(field)) losses.drop([...path, 'extras', FORMAT, field], 'named-once')
  return Object.fromEntries(entries.filter(([field]) => !REFERENCE_FIELDS.has(field)))
}
