import { foreignLosses, Losses, type Written } from '../../canonical/loss.ts'
import { type JsonObject, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { type ImagesDialect, imagesDialect } from '../../formats/dialects/images.ts'
import { defined, extrasFor } from '../fields.ts'
import { formFields } from '../media/form-texts.ts'
import { nearestQuality, needsOtherSize, OLDER_QUALITIES, sizeInPixels } from '../media/image-settings.ts'
import { reportRest, turnOf } from '../media/prompt.ts'
import { settingsWithoutSize, withoutSize } from '../media/size-fields.ts'
import { bodyWithModel, type NativeRequest, nativeSourceOf, withFields } from '../native.ts'
import { dropOthers } from '../sanitize/unwritten.ts'
import type { WriteOptions } from '../writer.ts'
import { acceptsUnchanged, outputFormatOfType, typeOfOutputFormat, writeInputImages } from './content.ts'
import { editsByGeneration, FORMAT, generationPath } from './named.ts'
import { withoutOutputFields, withoutOutputSettings } from './output-settings.ts'

/**
 * Writes the request as `POST /images/generations`, or `/images/edits` if there are images to edit
 * (docs/wire/images.md#edits).
 */
export function writeRequest(request: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const dialect = imagesDialect(options.dialect)
  const nativeSource = options.native ? nativeSourceOf(request, FORMAT) : undefined
  if (nativeSource !== undefined && acceptsUnchanged(nativeSource.wire, dialect))
    return writeNativeRequest(request, nativeSource, dialect)
  const losses = new Losses(foreignLosses(request, FORMAT))
  const turn = turnOf(request)
  const content = request.messages[turn]?.content ?? []
  reportRest(request, turn, {}, losses)
  dropOthers(request.output, ['output'], OUTPUT, 'images-only', losses)
  const { prompt, named, files } = writeInputImages(content, ['messages', turn, 'content'], dialect, losses)
  const isEdit = files !== undefined || Object.keys(named).length > 0
  const path = isEdit && !editsByGeneration(dialect) ? editPath(request) : generationPath(dialect)
  const extras = extrasFor(request, FORMAT)
  const accepted = dialect.output_settings === false ? withoutOutputSettings(request, losses) : request
  const fields = {
    model: request.model,
    ...defined({ prompt: prompt === '' && path === VARIATIONS ? undefined : prompt }),
    ...writeOutput(accepted, options, losses),
    ...writeModeration(accepted, files === undefined, losses),
    ...writeFidelity(accepted, isEdit, losses),
    // A native caller may have used both names of the user field.
    [extras['user'] === undefined ? 'user' : 'safety_identifier']: request.endUser,
    stream: accepted.stream || undefined,
    ...named,
    ...extras,
  }
  const body = defined(files === undefined ? fields : formFields(fields, request, FORMAT, losses)) as JsonObject
  return { wire: { path, query: {}, headers: {}, body, ...defined({ files }) }, losses: losses.list }
}

/** Passes on a request of this format as received, except for settings that the upstream refuses. */
function writeNativeRequest(
  request: CanonicalRequest,
  source: NativeRequest,
  dialect: ImagesDialect,
): Written<WireRequest> {
  const losses = new Losses()
  const { path, files } = source.wire
  const accepted = acceptedSettings(bodyWithModel(request, source), request, dialect, losses)
  const taken = withTakenOutput(accepted, request, dialect, losses)
  const body = dialect.output_settings === false ? withoutOutputFields(taken, request, losses) : taken
  const sentPath = path.endsWith('/generations') ? generationPath(dialect) : path.replace(/^\/v1(?=\/)/, '')
  const wire = { path: sentPath, query: {}, headers: {}, body }
  return { wire: { ...wire, ...defined({ files }) }, losses: losses.list }
}

/** Returns the body with the upstream's word for bytes, and with a file type that it makes. */
function withTakenOutput(
  body: JsonObject,
  { output: { image } }: CanonicalRequest,
  dialect: ImagesDialect,
  losses: Losses,
): JsonObject {
  const { bytes_word: word } = dialect
  const stated = body['response_format']
  const hasOtherWord = word !== undefined && image?.delivery === 'bytes' && stated !== undefined && stated !== word
  const type = image?.mediaType
  const format = body['output_format'] == null ? undefined : writeType(type, dialect, losses)
  return withFields(body, {
    ...(hasOtherWord ? { response_format: word } : {}),
    ...(format === undefined || typeOfOutputFormat(format) === type ? {} : { output_format: format }),
  })
}

const VARIATIONS = '/images/variations'

/** Returns the endpoint for images to edit: the one that a native caller chose, if it is that of variations. */
const editPath = (request: CanonicalRequest): string =>
  wireSourceOf<WireRequest>(request, FORMAT)?.wire.path.endsWith(VARIATIONS) === true ? VARIATIONS : '/images/edits'

/** Matches OpenAI's models after DALL·E, which refuse its settings (docs/wire/images.md#generations). */
const GPT_IMAGE = /\b(?:chat)?gpt-image\b/i

const isOfGpt = (model: string, { gpt_image }: ImagesDialect): boolean => gpt_image === true || GPT_IMAGE.test(model)

/** Settings that only DALL·E had. */
const DALLE_FIELDS = ['style', 'response_format']

/** Matches models that refuse `input_fidelity`: the small one, and those that always look closely. */
const NO_FIDELITY = /\bgpt-image-(?:\d+(?:\.\d+)?-mini|[2-9]|\d\d)/i

/** Returns the body without the settings that the model refuses. */
function acceptedSettings(
  body: JsonObject,
  { model, output }: CanonicalRequest,
  dialect: ImagesDialect,
  losses: Losses,
): JsonObject {
  const settings = settingsWithoutSize(output, dialect.size_field, losses)
  if (settings !== undefined) return withoutSize(body, settings)
  if (!isOfGpt(model, dialect)) return withTakenSize(body, model, output.image, losses)
  const { quality, fidelity } = imageOfGpt(output.image, model, losses) ?? {}
  const refused = fidelity === undefined ? ['input_fidelity'] : []
  const size = sizeInPixels(output.image?.size, model, losses)
  return withFields(body, defined({ quality, size }) as JsonObject, [...DALLE_FIELDS, ...refused])
}

/** Returns the body with a size that the model takes. */
function withTakenSize(body: JsonObject, model: string, image: Output['image'], losses: Losses): JsonObject {
  const size = needsOtherSize(model) ? sizeInPixels(image?.size, model, losses) : image?.size
  return size === image?.size ? body : withFields(body, { size })
}

/** Returns the image settings that OpenAI's models after DALL·E accept. The gateway delivers as the caller requested. */
function imageOfGpt(image: Output['image'], model: string, losses: Losses): Output['image'] {
  if (image === undefined) return image
  const { style, delivery, quality, fidelity, ...others } = image
  if (style !== undefined) losses.drop(['output', 'image', 'style'], 'no-style')
  if (delivery !== undefined) losses.dropRestored(['output', 'image', 'delivery'], 'delivered-by-the-gateway')
  const isRefused = fidelity !== undefined && NO_FIDELITY.test(model)
  if (isRefused) losses.drop(['output', 'image', 'fidelity'], 'no-choice-of-fidelity')
  return {
    ...others,
    ...defined({
      quality: nearestQuality(quality, OLDER_QUALITIES, losses),
      fidelity: isRefused ? undefined : fidelity,
    }),
  }
}

function writeOutput({ model, output }: CanonicalRequest, options: WriteOptions, losses: Losses): JsonObject {
  const { candidates } = output
  const isGpt = isOfGpt(model, imagesDialect(options.dialect))
  const image = isGpt ? imageOfGpt(output.image, model, losses) : output.image
  const settings = settingsWithoutSize({ image, candidates }, imagesDialect(options.dialect).size_field, losses)
  const { quality, style } = image ?? {}
  return defined({
    ...(settings ?? { n: candidates, size: sizeInPixels(image?.size, model, losses), quality, style }),
    background: image?.background,
    output_format: writeType(image?.mediaType, imagesDialect(options.dialect), losses),
    output_compression: image?.compression,
    partial_images: image?.previews,
    response_format: isGpt ? undefined : writeDelivery(image, options, losses),
  }) as JsonObject
}

/** Writes `moderation`. Forms do not have this field. */
function writeModeration({ output: { image } }: CanonicalRequest, hasField: boolean, losses: Losses): JsonObject {
  if (image?.moderation === undefined) return {}
  if (hasField) return { moderation: image.moderation }
  losses.drop(['output', 'image', 'moderation'], 'no-moderation-of-forms')
  return {}
}

/** Writes `input_fidelity`, which only applies to edited images, and which some models refuse. */
function writeFidelity({ model, output: { image } }: CanonicalRequest, isEdit: boolean, losses: Losses): JsonObject {
  if (image?.fidelity === undefined || NO_FIDELITY.test(model)) return {}
  if (isEdit) return { input_fidelity: image.fidelity }
  losses.drop(['output', 'image', 'fidelity'], 'no-image-to-be-true-to')
  return {}
}

function writeType(mediaType: string | undefined, dialect: ImagesDialect, losses: Losses): string | undefined {
  if (mediaType === undefined) return undefined
  const nearest = outputFormatOfType(mediaType)
  const outputFormat = dialect.output_types === 'png_jpeg' && nearest !== 'jpeg' ? 'png' : nearest
  if (typeOfOutputFormat(outputFormat) !== mediaType)
    losses.change(['output', 'image', 'mediaType'], typeOfOutputFormat(outputFormat), 'nearest-picture-type')
  return outputFormat
}

/** Writes `response_format`. Callers of other formats get bytes even if the upstream's default is URLs. */
function writeDelivery(
  image: Output['image'],
  { dialect, native }: WriteOptions,
  losses: Losses,
): 'url' | 'b64_json' | 'base64' | undefined {
  const wanted = image?.delivery
  const { bytes_word = 'b64_json', response_format } = imagesDialect(dialect)
  if (wanted !== undefined) return wanted === 'url' ? 'url' : bytes_word
  if (native || response_format !== true) return undefined
  if (image === undefined) losses.add(['output', 'image'], { delivery: 'bytes' }, 'minted-delivery')
  else losses.add(['output', 'image', 'delivery'], 'bytes', 'minted-delivery')
  return bytes_word
}

/** Output fields that this writer handles, or that image requests never have. */
const OUTPUT = new Set([
  ...['modalities', 'candidates', 'image', 'embedding', 'ranking', 'transcript', 'completion', 'count', 'compaction'],
])
