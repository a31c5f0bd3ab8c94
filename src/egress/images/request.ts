import { foreign, Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Message, Output, State } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { sizeInPixels } from '../media/picture-size.ts'
import { reportConversational } from '../sanitize/bare.ts'
import type { WriteOptions } from '../writer.ts'
import { imagesDialect } from './dialect.ts'
import { fits, type InputImages, turnOf, writeInputImages, writeUnchanged } from './input-images.ts'

import { FORMAT, outputFormatOfType, typeOfOutputFormat } from './types.ts'

/** The canonical request as `POST /images/generations` or, with images to edit, `/images/edits` (FORMATS §10). */
export function writeRequest(request: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const losses = new Losses()
  losses.report(foreign(request, FORMAT))
  const dialect = imagesDialect(options.dialect)
  const marks = options.native ? spelt(request, FORMAT) : {}
  const turn = turnOf(request.messages)
  const content = request.messages[turn]?.content ?? []
  if (!options.native) reportRest(request, turn, losses)
  const own = options.native && fits(content, marks, dialect)
  const { prompt, named, files } = own
    ? writeUnchanged(content, marks)
    : writeInputImages(content, ['messages', turn, 'content'], dialect, losses)
  const path = pathOf(marks, { named, files })
  const fields = {
    model: request.model,
    ...defined({ prompt: !own && prompt === '' && path === '/images/variations' ? undefined : prompt }),
    ...writeOutput(request, options, losses),
    ...writeModeration(request, own || files === undefined, losses),
    ...writeFidelity(request, options.native || files !== undefined || Object.keys(named).length > 0, losses),
    ...defined({ [userField(marks, options.native)]: request.endUser }),
    stream: request.stream || marks['stream'] === false ? request.stream : undefined,
    ...named,
    ...kept(request, FORMAT),
  }
  const body =
    files === undefined ? fields : { ...inTexts(fields, request, losses), ...(marks['said'] as JsonObject | undefined) }
  const wire = {
    path,
    query: {},
    headers: {},
    body: defined(body) as JsonObject,
    ...defined({ files }),
  }
  return { wire, losses: losses.list }
}

/** The caller's own path, unless no image is left to edit. */
function pathOf({ path }: JsonObject, { named, files }: Omit<InputImages, 'prompt'>): string {
  const starts = files !== undefined || Object.keys(named).length > 0
  if (typeof path === 'string' && (starts || path === '/images/generations')) return path
  return starts ? '/images/edits' : '/images/generations'
}

const userField = ({ user }: JsonObject, native: boolean): string =>
  native && user !== 'user' ? 'safety_identifier' : 'user'

/** A form has text fields only; the format's own extras are read from it as text. */
function inTexts(body: object, { extras }: CanonicalRequest, losses: Losses): JsonObject {
  const entries = Object.entries(body).filter(([, value]) => value != null)
  return Object.fromEntries(
    entries.map(([field, value]) => {
      if (isText(value)) return [field, value]
      const text = JSON.stringify(value)
      if (extras?.[FORMAT]?.[field] !== undefined)
        losses.change(['extras', FORMAT, field], text, 'forms-have-texts-alone')
      return [field, text]
    }),
  )
}

const isText = (value: unknown): value is Json =>
  typeof value === 'string' || (Array.isArray(value) && value.every(one => typeof one === 'string'))

function writeOutput({ output, ...request }: CanonicalRequest, options: WriteOptions, losses: Losses): JsonObject {
  const { image, candidates } = output
  const spelled = spelt(request as CanonicalRequest, FORMAT)['output_format']
  const size = options.native ? image?.size : sizeInPixels(image?.size, losses)
  return defined({
    n: candidates,
    size,
    quality: image?.quality,
    style: image?.style,
    background: image?.background,
    output_format: options.native ? spelled : writeType(image?.mediaType, losses),
    output_compression: image?.compression,
    partial_images: image?.previews,
    response_format: writeDelivery(image, options, losses),
  }) as JsonObject
}

/** A form has no such field. */
function writeModeration({ output: { image } }: CanonicalRequest, hasField: boolean, losses: Losses): JsonObject {
  if (image?.moderation === undefined) return {}
  if (hasField) return { moderation: image.moderation }
  losses.drop(['output', 'image', 'moderation'], 'no-moderation-of-forms')
  return {}
}

/** Fidelity applies to edited images only. */
function writeFidelity({ output: { image } }: CanonicalRequest, starts: boolean, losses: Losses): JsonObject {
  if (image?.fidelity === undefined) return {}
  if (starts) return { input_fidelity: image.fidelity }
  losses.drop(['output', 'image', 'fidelity'], 'no-picture-to-be-true-to')
  return {}
}

function writeType(mediaType: string | undefined, losses: Losses): string | undefined {
  if (mediaType === undefined) return undefined
  const outputFormat = outputFormatOfType(mediaType)
  if (typeOfOutputFormat(outputFormat) !== mediaType)
    losses.change(['output', 'image', 'mediaType'], typeOfOutputFormat(outputFormat), 'nearest-picture-type')
  return outputFormat
}

/** Callers of other formats want the image itself. */
function writeDelivery(
  image: Output['image'],
  { dialect, native }: WriteOptions,
  losses: Losses,
): 'url' | 'b64_json' | undefined {
  const wanted = image?.delivery
  if (wanted !== undefined) return wanted === 'url' ? 'url' : 'b64_json'
  if (native || imagesDialect(dialect).response_format !== true) return undefined
  if (image === undefined) losses.add(['output', 'image'], { delivery: 'bytes' }, 'minted-delivery')
  else losses.add(['output', 'image', 'delivery'], 'bytes', 'minted-delivery')
  return 'b64_json'
}

const OUTPUT_LOSSES: Unwritten<
  Output,
  'modalities' | 'candidates' | 'image' | 'embedding' | 'ranking' | 'transcript' | 'completion' | 'count' | 'compaction'
> = {
  text: 'pictures-only',
  verbosity: 'pictures-only',
  audio: 'pictures-only',
  video: 'pictures-only',
}
const STATE_LOSSES: Unwritten<State> = {
  store: 'no-storage',
  previous: 'no-kept-answers',
  conversation: 'no-conversations',
  background: 'no-background-work',
  thread: 'no-threads',
}
const MESSAGE_LOSSES: Unwritten<Message, 'role' | 'content'> = { name: 'no-names' }

/** A request has a single turn, and settings of the image only. */
function reportRest(request: CanonicalRequest, turn: number, losses: Losses): void {
  reportConversational(request, losses)
  losses.dropFields(request.output, ['output'], OUTPUT_LOSSES)
  losses.dropFields(request.state, ['state'], STATE_LOSSES)
  for (const [index, message] of request.messages.entries())
    if (index !== turn) losses.drop(['messages', index], 'one-turn-only')
    else losses.dropFields(message, ['messages', index], MESSAGE_LOSSES)
}
