import type { ImageProperties, MediaPart, Part } from '../../canonical/content.ts'
import { type CanonicalError, GatewayError, GatewayFailure } from '../../canonical/error.ts'
import { foreignLosses, Losses, type Path, type Unwritten, type Written } from '../../canonical/loss.ts'
import { type JsonObject, unchangedWire, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest, Modality } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, Finish, Usage } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined, definedIfAny, extrasFor } from '../fields.ts'
import { writeImageProperties } from '../media/image-settings.ts'
import { reportTypeOfUrl } from '../media/input-images.ts'
import { nativeBodyOf, OPTIONAL_HEAD, withCreated } from '../native.ts'
import { NO_TASK, PLAIN_MEDIA_LOSSES } from '../sanitize/unwritten.ts'
import { outputFormatOfType, typeOfOutputFormat } from './content.ts'
import { FORMAT } from './named.ts'

/** Returns true if the part is a generated image. */
export const isGeneratedImage = (part: Part): part is MediaPart & { source: { type: 'base64' } | { type: 'url' } } =>
  part.type === 'media' &&
  part.kind === 'image' &&
  part.use === undefined &&
  (part.source.type === 'base64' || part.source.type === 'url')

/** Returns true if the request edits images: a user turn contains media. */
export const editsImages = ({ messages }: CanonicalRequest): boolean =>
  messages.some(({ role, content }) => role === 'user' && content.some(part => part.type === 'media'))

/** Writes an image as base64 or as its URL. */
export const writeImage = ({ source }: MediaPart): JsonObject =>
  source.type === 'base64' ? { b64_json: source.data } : source.type === 'url' ? { url: source.url } : {}

/**
 * Returns the error for an answer without images. The message contains the model's text. The channel is not at fault,
 * because the text may be what the prompt requested: otherwise any caller could have a model rest.
 */
export function noImageError({ candidates }: Pick<CanonicalResult, 'candidates'>): GatewayError {
  const output = candidates
    .flatMap(({ content }) => content.map(part => (part.type === 'text' || part.type === 'refusal' ? part.text : '')))
    .filter(text => text !== '')
    .join('\n')
  const refused = candidates.find(({ finish }) => finish?.reason === 'refused')
  return refused === undefined
    ? new GatewayFailure(noImageFailure(output))
    : new GatewayError(blockedRequest(refused.finish!, output))
}

const noImageFailure = (text: string): CanonicalError => ({
  kind: 'upstream-failed',
  code: 'no_image',
  message: text === '' ? 'The model generated no image.' : `The model generated no image but this text: ${text}`,
})

const blockedRequest = ({ raw }: Finish, text: string): CanonicalError => ({
  kind: 'invalid-request',
  code: 'moderation_blocked',
  message: `The image was refused${raw === undefined ? '' : ` (${raw})`}${text === '' ? '.' : `: ${text}`}`,
})

const RESULT_LOSSES: Unwritten<CanonicalResult, 'createdAt' | 'candidates' | 'usage' | 'complete'> = {
  id: 'no-ids',
  model: 'no-model-here',
  serviceTier: 'no-tiers',
  ...NO_TASK,
}

/**
 * Writes an answer with one entry per image (docs/wire/images.md#response).
 *
 * @throws GatewayError if another format's answer contains no image: `invalid-request` if the model refused, otherwise
 * `upstream-failed`. The message contains the model's text.
 */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const nativeBody = nativeBodyOf(result, FORMAT, OPTIONAL_HEAD)
  if (nativeBody !== undefined)
    return { wire: { status: 200, headers: {}, body: withCreated(nativeBody, result) }, losses: [] }
  const losses = new Losses(foreignLosses(result, FORMAT))
  losses.dropFields(result, [], RESULT_LOSSES)
  const native = wireSourceOf(result, FORMAT) !== undefined
  if (!native && !result.candidates.some(({ content }) => content.some(isGeneratedImage))) throw noImageError(result)
  const shared = { format: outputFormatOf(result), properties: sharedPropertiesOf(result) }
  const data = result.candidates.flatMap((candidate, index) =>
    writeCandidate(candidate, ['candidates', index], shared, native, losses),
  )
  if (result.createdAt === undefined) losses.add(['createdAt'], 0, 'time-required')
  const body = {
    created: result.createdAt ?? 0,
    data,
    ...shared.properties,
    ...defined({
      output_format: shared.format,
      usage: result.usage && writeUsage(result.usage, losses, !editsImages(request)),
    }),
    ...extrasFor(result, FORMAT),
  }
  return { wire: { status: 200, headers: {}, body: defined(body) as JsonObject }, losses: losses.list }
}

/**
 * Returns the output format that the answer states for all images: that of the first image with bytes. Returns
 * undefined if no image has bytes.
 */
function outputFormatOf({ candidates }: CanonicalResult): string | undefined {
  const first = candidates
    .flatMap(({ content }) => content)
    .find(part => isGeneratedImage(part) && part.source.type === 'base64')
  return first?.type === 'media' && first.source.type === 'base64'
    ? outputFormatOfType(first.source.mediaType)
    : undefined
}

/** Fields that the answer states once for all images. */
interface SharedFields {
  readonly format: string | undefined
  /** Size, quality and background. */
  readonly properties: Omit<ImageProperties, 'prompt'>
}

/** Returns the properties that the answer states for all images, each from the first image that has it. */
function sharedPropertiesOf({ candidates }: CanonicalResult): SharedFields['properties'] {
  const all = candidates.flatMap(({ content }) => content.filter(isGeneratedImage)).toReversed()
  const { prompt: _, ...properties } = Object.assign(
    {},
    ...all.map(({ made }) => defined({ ...made })),
  ) as ImageProperties
  return properties
}

/** Writes an entry for each image of a candidate and reports all other parts as lost. */
function writeCandidate(
  candidate: Candidate,
  path: Path,
  shared: SharedFields,
  native: boolean,
  losses: Losses,
): JsonObject[] {
  const { content, finish, ...rest } = candidate
  losses.dropFields(rest, path, { logprobs: 'no-logprobs', transcript: 'no-transcripts' })
  const images = content.flatMap((part, index) => {
    if (isGeneratedImage(part)) return [{ part, path: [...path, 'content', index] }]
    losses.drop([...path, 'content', index], 'images-only')
    return []
  })
  const [first, ...others] = images
  if (first === undefined && !native) {
    losses.drop(path, 'no-image')
    return []
  }
  reportFinish(finish, path, losses)
  const written = images.map(({ part, path }, index) => {
    const kind = reportImage(part, path, shared, losses)
    if (index > 0) {
      losses.drop(path, 'one-entry-per-image')
      losses.insert(pathAfter(path), { content: [kind], finish: { reason: 'stop' } }, 'one-entry-per-image')
    }
    return { ...writeImage(part), ...writeImageProperties(defined({ prompt: part.made?.prompt })) }
  })
  return [{ ...written[0], ...extrasFor(candidate, FORMAT) }, ...others.map((_, index) => written[index + 1]!)]
}

const pathAfter = ([list, index]: Path): Path => [list!, Number(index) + 1]

const IMAGE_LOSSES = { ...PLAIN_MEDIA_LOSSES, name: 'no-names' }

/** Reports the losses of an image and returns the image as readers would read it from the answer. */
function reportImage(
  part: Candidate['content'][number] & { type: 'media' },
  path: Path,
  { format, properties }: SharedFields,
  losses: Losses,
): object {
  losses.dropFields(part, path, IMAGE_LOSSES)
  const made = { ...defined({ prompt: part.made?.prompt }), ...properties }
  reportProperties(part.made, made, [...path, 'made'], losses)
  reportTypeOfUrl(part, path, losses)
  const { source } = part
  if (source.type === 'base64' && format !== undefined && source.mediaType !== typeOfOutputFormat(format))
    losses.change([...path, 'source', 'mediaType'], typeOfOutputFormat(format), 'one-kind-for-all')
  const readSource =
    source.type === 'url'
      ? { type: 'url', url: source.url }
      : {
          ...source,
          mediaType: format === undefined && source.type === 'base64' ? source.mediaType : typeOfOutputFormat(format!),
        }
  return { type: 'media', kind: 'image', source: readSource, ...defined({ made: definedIfAny(made) }) }
}

/** Reports images that differ from the shared properties. Readers apply the shared properties to every image. */
function reportProperties(
  properties: ImageProperties | undefined,
  shared: ImageProperties,
  path: Path,
  losses: Losses,
): void {
  if (properties === undefined) {
    if (Object.keys(shared).length > 0) losses.add(path, shared, 'same-for-all')
    return
  }
  for (const [field, value] of Object.entries(shared))
    if (properties[field as keyof ImageProperties] === undefined) losses.add([...path, field], value, 'same-for-all')
    else if (properties[field as keyof ImageProperties] !== value)
      losses.change([...path, field], value, 'same-for-all')
}

/** Reports finish reasons. Readers treat every image in an answer as finished. */
function reportFinish(finish: Candidate['finish'], path: Path, losses: Losses): void {
  if (finish === undefined) losses.add([...path, 'finish'], { reason: 'stop' }, 'always-finished')
  else {
    if (finish.reason !== 'stop') losses.change([...path, 'finish', 'reason'], 'stop', 'always-finished')
    if (finish.stopSequence !== undefined) losses.drop([...path, 'finish', 'stopSequence'], 'no-stop-sequences')
  }
}

const USAGE_LOSSES: Unwritten<Usage, 'input' | 'output' | 'inputBy' | 'outputBy'> = {
  searches: 'no-count-of-searches',
  cacheRead: 'no-count-of-cached',
  cacheWrite: 'no-count-of-cached',
  reasoning: 'no-count-of-reasoning',
  hostedCalls: 'no-count-of-hosted-calls',
}
const UNCOUNTED: readonly Modality[] = ['audio', 'video', 'embedding']

/**
 * Writes the token counts. Input and output are required, so unknown counts become zero. `textOnly` states that the
 * request has no input images.
 */
export function writeUsage(original: Usage, losses: Losses, textOnly: boolean): JsonObject {
  const nativeUsage = unchangedWire<JsonObject>(original, FORMAT)
  if (nativeUsage !== undefined) return nativeUsage
  losses.dropFields(original, ['usage'], USAGE_LOSSES)
  const usage = { ...original, ...byKind(original, losses, textOnly) }
  const { input = 0, output = 0 } = usage
  for (const side of ['input', 'output'] as const)
    if (usage[side] === undefined) losses.add(['usage', side], 0, 'count-required')
  for (const side of ['inputBy', 'outputBy'] as const)
    for (const modality of UNCOUNTED)
      if (usage[side]?.[modality] !== undefined) losses.drop(['usage', side, modality], 'no-such-count')
  const { input_tokens_details, output_tokens_details, ...others } = extrasFor(usage, FORMAT)
  return defined({
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: details(usage.inputBy, input_tokens_details as JsonObject | undefined),
    output_tokens_details: details(usage.outputBy, output_tokens_details as JsonObject | undefined),
    ...others,
  }) as JsonObject
}

/**
 * Completes the counts by modality. The format requires both text and image counts, so a missing count becomes the
 * remainder. Input without any count is the text's, or that of the images to edit, which have nearly all of it.
 */
function byKind(usage: Usage, losses: Losses, textOnly: boolean): Pick<Usage, 'inputBy' | 'outputBy'> {
  const sides = (['inputBy', 'outputBy'] as const).flatMap(side => {
    const stated = usage[side] ?? {}
    if (stated.text !== undefined && stated.image !== undefined) return []
    const hasCounts = stated.text !== undefined || stated.image !== undefined
    if (!hasCounts && side === 'outputBy') return []
    const all = (side === 'inputBy' ? usage.input : usage.output) ?? 0
    const image = stated.image ?? (!hasCounts && textOnly ? 0 : Math.max(0, all - (stated.text ?? 0)))
    const both = { text: stated.text ?? Math.max(0, all - image), image }
    losses.add(['usage', side], both, 'both-kinds-required')
    return [[side, both] as const]
  })
  return Object.fromEntries(sides)
}

const details = (by: Usage['inputBy'], extras: JsonObject | undefined): JsonObject | undefined =>
  definedIfAny({ text_tokens: by?.text, image_tokens: by?.image, ...extras }) as JsonObject | undefined
