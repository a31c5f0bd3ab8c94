import { type Bytes, HeldBytes } from '../../canonical/bytes.ts'
import type { MediaPart, Part } from '../../canonical/content.ts'
import type { Losses } from '../../canonical/loss.ts'
import { urlOfSource } from '../../canonical/media/data-url.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import type { PlacedPart } from '../media/video-prompt.ts'
import type { VideosDialect } from './dialect.ts'

export const FORMAT = 'videos'
const FIELD = 'input_reference'

/** What a video starts from: named in the body, or as a file of a form. */
export interface References {
  readonly named: JsonObject
  readonly files: readonly WireFile[] | undefined
}

type Placed = Pick<PlacedPart, 'part'>

/** Whether the upstream takes the pictures the way their caller sends them: as a bare text, no upstream does. */
export const fits = (content: readonly Part[], { references }: VideosDialect): boolean =>
  content.every(
    part =>
      part.type !== 'media' ||
      part.source.type === 'bytes' ||
      (references !== 'files' && spelt(part, FORMAT)['as'] !== 'text'),
  )

/** The pictures in the fields, or the files, they came in. */
export function writeUnchanged(content: readonly Part[], inForm: boolean): References {
  const parts = content.filter(part => part.type === 'media' || part.type === 'opaque').map(part => ({ part }))
  const isFile = ({ part }: Placed): boolean => 'source' in part && part.source.type === 'bytes'
  const named = Object.fromEntries(parts.filter(one => !isFile(one)).map(({ part }) => nameAsItCame(part)))
  return { named, files: inForm ? parts.filter(isFile).map(({ part }) => fileAsItCame(part as MediaPart)) : undefined }
}

function nameAsItCame(part: PlacedPart['part']): readonly [field: string, wire: Json] {
  if (part.type === 'opaque') return [FIELD, part.value]
  const value = part.source.type === 'file-id' ? part.source.id : urlOfSource(part.source)!
  const { field, as } = spelt(part, FORMAT)
  if (typeof field === 'string') return [field, value]
  return [FIELD, { [typeof as === 'string' ? as : 'image_url']: value, ...kept(part, FORMAT) }]
}

const fileAsItCame = (part: MediaPart): WireFile => {
  const { bytes, mediaType } = part.source as { readonly bytes: Bytes; readonly mediaType: string }
  const field = part.extras?.[FORMAT]?.['field']
  return { field: typeof field === 'string' ? field : FIELD, ...defined({ name: part.name }), mediaType, bytes }
}

/** Whether a picture of any format's caller can be the one the video starts from. */
export const isTaken =
  ({ references }: VideosDialect) =>
  (part: MediaPart, taken: readonly MediaPart[]): boolean =>
    taken.length === 0 &&
    part.kind === 'image' &&
    (part.use === undefined || part.use === 'reference') &&
    (bytesOf(part) !== undefined || (references !== 'files' && isNamed(part)))

const isNamed = ({ source }: MediaPart): boolean =>
  source.type === 'url' || (source.type === 'file-id' && source.format === FORMAT)

function bytesOf({ source }: MediaPart): Bytes | undefined {
  if (source.type === 'bytes') return source.bytes
  return source.type === 'base64' ? new HeldBytes(Buffer.from(source.data, 'base64')) : undefined
}

const LOSSES = {
  cache: 'no-cache-markers',
  detail: 'no-detail-here',
  transcript: 'no-transcript-here',
  use: 'one-picture-only',
}

/** A picture of any format's caller: the file of a form where its bytes are there, else by its address or id. */
export function writeReferences(media: readonly PlacedPart[], losses: Losses): References {
  const [first] = media
  if (first === undefined) return { named: {}, files: [] }
  const { part, path } = first
  if (part.type === 'opaque') return { named: { [FIELD]: part.value }, files: undefined }
  losses.dropFields(part, path, LOSSES)
  const bytes = bytesOf(part)
  if (bytes !== undefined) {
    const { mediaType } = part.source as { readonly mediaType: string }
    const name = part.name ?? `image.${mediaType.split('/')[1]?.replace(/\+.*/, '') ?? 'png'}`
    if (part.name === undefined) losses.add([...path, 'name'], name, 'minted-file-name')
    if (part.extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'nothing-beside-a-file')
    return { named: {}, files: [{ field: FIELD, name, mediaType, bytes }] }
  }
  losses.dropFields(part, path, { name: 'no-names' })
  const { source } = part
  if ((source.type === 'url' || source.type === 'file-id') && source.mediaType !== undefined)
    losses.drop([...path, 'source', 'mediaType'], 'no-media-type-of-addresses')
  const wire = source.type === 'file-id' ? { file_id: source.id } : { image_url: urlOfSource(source)! }
  return { named: { [FIELD]: { ...part.extras?.[FORMAT], ...wire } }, files: undefined }
}
