import type { MediaPart, Part } from '../../canonical/content.ts'
import { cannotExpress } from '../../canonical/error.ts'
import { foreignLosses, Losses, type Path, type Written } from '../../canonical/loss.ts'
import { type Json, type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { type RerankDialect, rerankDialect } from '../../formats/dialects/rerank.ts'
import { defined, extrasFor } from '../fields.ts'
import { reportImpliedType } from '../media/input-images.ts'
import { bodyWithModel, nativeSourceOf } from '../native.ts'
import { PLAIN_TEXT_LOSSES, reportUnwritten } from '../sanitize/unwritten.ts'
import type { WriteOptions } from '../writer.ts'

const WRITTEN_OUTPUT = new Set(['ranking'])

/**
 * Writes the request as `POST /rerank` (docs/wire/rerank.md#request). Throws GatewayError `cannot-express` for any
 * other kind of work.
 */
export function writeRequest(request: CanonicalRequest, { dialect, native }: WriteOptions): Written<WireRequest> {
  const { ranking } = request.output
  if (ranking === undefined) throw cannotExpress('This upstream can only rank documents.')
  const { top_field = 'top_n', documents } = rerankDialect(dialect)
  const nativeSource = native ? nativeSourceOf(request, FORMAT) : undefined
  const top = topWithin(request)
  const isWithin = top === ranking.top
  if (nativeSource !== undefined && acceptsUnchanged(nativeSource.wire, isWithin, rerankDialect(dialect))) {
    const body = bodyWithModel(request, nativeSource)
    return { wire: { path: '/rerank', query: {}, headers: {}, body }, losses: [] }
  }
  const losses = new Losses(foreignLosses(request, FORMAT))
  reportUnwritten(request, WRITTEN_OUTPUT, losses)
  const context: WriteContext = { textOnly: documents === 'text', plain: text => text, losses }
  if (!isWithin) losses.changeRestored(['output', 'ranking', 'top'], top!, 'all-documents')
  if (ranking.echo === undefined) losses.addRestored(['output', 'ranking', 'echo'], false, 'default-made-explicit')
  const body = {
    model: request.model,
    query: ranking.query,
    documents: request.messages.map(({ content }, index) =>
      writeDocument(content, ['messages', index, 'content'], context),
    ),
    ...defined({ [top_field]: top }),
    return_documents: ranking.echo ?? false,
    ...extrasFor(request, FORMAT),
  } as JsonObject
  return { wire: { path: '/rerank', query: {}, headers: {}, body }, losses: losses.list }
}

/**
 * Returns the number of ranks, which is at most the number of documents: Voyage refuses more with 400
 * (docs/wire/rerank.md#request).
 */
const topWithin = ({ output: { ranking }, messages }: CanonicalRequest): number | undefined =>
  ranking?.top === undefined ? undefined : Math.min(ranking.top, messages.length)

export const FORMAT = 'rerank'

/**
 * Returns true if the upstream accepts the caller's body unchanged, including the caller's field for the number of
 * ranks, documents that are objects, and a flag that is text. A number above that of the documents stays if the channel
 * declares no field for it.
 */
const acceptsUnchanged = ({ body }: WireRequest, isWithin: boolean, { top_field, documents }: RerankDialect): boolean =>
  documents !== 'text' &&
  typeof body['return_documents'] !== 'string' &&
  (top_field === undefined || (isWithin && body[top_field === 'top_k' ? 'top_n' : 'top_k'] == null))

/** Shared state of the functions that write one document. */
interface WriteContext {
  readonly textOnly: boolean
  /** Writes a document that consists of a single text. */
  plain(text: string): Json
  readonly losses: Losses
}

/**
 * Writes a document as received if possible, otherwise as a single text or image. `path` is the path of the document's
 * parts.
 */
export function writeDocument(content: readonly Part[], path: Path, context: WriteContext): Json {
  const nativeDocument = content[0] && unchangedWire<Json>(content[0], FORMAT)
  if (
    nativeDocument !== undefined &&
    !context.textOnly &&
    content.every(part => unchangedWire(part, FORMAT) === nativeDocument)
  )
    return nativeDocument
  const texts = textsIn(content, path, context)
  if (texts.length > 0) return writeText(texts, path, context)
  const index = content.findIndex(part => part.type === 'media')
  const image = content[index]
  return image?.type === 'media' && !context.textOnly
    ? writeImage(image, [...path, index], context)
    : writeText([], path, context)
}

interface LocatedText {
  readonly part: Part
  readonly text: string
  readonly index: number
}

/** Returns the text parts of a document. Reports parts that cannot be combined with text or that the format lacks. */
function textsIn(content: readonly Part[], path: Path, { textOnly, losses }: WriteContext): readonly LocatedText[] {
  const texts = content.flatMap((part, index): LocatedText[] => {
    // `foreignLosses` reports the loss of another format's part.
    const text = part.type === 'text' || (part.type === 'opaque' && part.format !== FORMAT) ? part.text : undefined
    return text === undefined ? [] : [{ part, text, index }]
  })
  const imageCount = textOnly || texts.length > 0 ? 0 : 1
  const first = content.findIndex(({ type }) => type === 'media')
  for (const [index, part] of content.entries()) {
    if (part.type === 'media' && index === first && imageCount > 0) continue
    if (part.type === 'media') losses.drop([...path, index], textOnly ? 'documents-are-text' : 'a-text-or-a-picture')
    else if (part.type !== 'text' && (part.type !== 'opaque' || part.format === FORMAT))
      losses.drop([...path, index], 'no-equivalent-field')
  }
  return texts
}

function writeText(texts: readonly LocatedText[], path: Path, context: WriteContext): Json {
  const [first, ...others] = texts
  if (first === undefined) return context.plain('')
  if (others.length > 0) {
    const text = texts.map(one => one.text).join('\n')
    context.losses.change(path, [{ type: 'text', text }], 'one-text-each')
    return context.plain(text)
  }
  context.losses.dropFields(first.part, [...path, first.index], PLAIN_TEXT_LOSSES)
  return context.plain(first.text)
}

const IMAGE_LOSSES = {
  ...PLAIN_TEXT_LOSSES,
  name: 'no-name-here',
  detail: 'no-detail-here',
  transcript: 'no-transcript-here',
}

/** Writes an image as a URL or as bare base64. */
function writeImage(part: MediaPart, at: Path, context: WriteContext): Json {
  const { kind, source } = part
  const { losses } = context
  const content = source.type === 'base64' ? source.data : source.type === 'url' ? source.url : undefined
  if (kind !== 'image' || content === undefined) {
    losses.drop(at, kind === 'image' ? 'only-at-its-issuer' : 'images-only')
    return context.plain('')
  }
  losses.dropFields(part, at, { ...IMAGE_LOSSES, use: 'no-masks' })
  reportImpliedType(part, at, losses)
  return { image: content }
}
