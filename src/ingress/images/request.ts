import type { Part } from '../../canonical/content.ts'
import { type GatewayError, invalid } from '../../canonical/error.ts'
import type { Path } from '../../canonical/loss.ts'
import { type Json, type JsonObject, wireSourceOf, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { BodyFields } from '../body-fields.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import {
  count,
  defined,
  definedIfAny,
  extrasOf,
  flag,
  isFlag,
  isNumeral,
  number,
  positiveCount,
  required,
  text,
  WrongType,
} from '../fields.ts'
import { type Locate, locator } from '../locate.ts'
import { emptyField, FORMAT, hasImage, IMAGE_FIELDS, readFiles, readReferencedImages } from './content.ts'
import { EMPTY_IMAGE, mediaTypeOfName, NO_IMAGE, needsPrompt, requestAt } from './wire.ts'

/**
 * Reads the body of `POST /v1/images/{generations,edits,variations}` (docs/wire/images.md#edits), as JSON or as a form.
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (wire: WireRequest): CanonicalRequest =>
  readOrExplain(
    () => requestAt(wire),
    wire.body,
    () => readBody(wire),
  )

function readBody(wire: WireRequest): CanonicalRequest {
  const { path, body, files } = wire
  const values = files === undefined ? JSON_READERS : FORM_READERS
  const unreadFields: string[] = []
  const fieldText = text(body['prompt'])
  const prompt = needsPrompt(wire) ? required(fieldText) : fieldText
  const texts: readonly Part[] = prompt === undefined ? [] : [{ type: 'text', text: prompt }]
  const user = text(body['user'])
  const safe = text(body['safety_identifier'])
  if (safe !== undefined && user !== undefined) unreadFields.push('user')
  const output = readOutput(body, values, unreadFields)
  const model = required(text(body['model']))
  const images = [...readReferencedImages(body), ...readFiles(files ?? [])]
  if (!path.endsWith('/generations') && !hasImage(body, files)) throw wrong('image', NO_IMAGE)
  const empty = emptyField(images)
  if (empty !== undefined) throw wrong(empty, EMPTY_IMAGE)
  const request: CanonicalRequest = {
    model,
    messages: [{ role: 'user', content: [...texts, ...images.map(({ part }) => part)] }],
    output,
    sampling: {},
    ...defined({ endUser: safe ?? user }),
    stream: values.flag(body['stream']) ?? false,
    ...extrasOf(FORMAT, body, KNOWN_FIELDS, unreadFields),
  }
  return withWireSource(request, FORMAT, wire)
}

const wrong = (param: string, message: string): GatewayError => invalid(`${param}: ${message}`, param)

const KNOWN_FIELDS = new Set<string>([
  ...['model', 'prompt', 'n', 'size', 'quality', 'style', 'background', 'output_format', 'output_compression'],
  ...['input_fidelity', 'moderation', 'response_format', 'partial_images', 'stream', 'user', 'safety_identifier'],
  ...IMAGE_FIELDS,
])

/** Readers of numbers and flags, which are strings in a form. */
interface Values {
  number(value: Json | undefined): number | undefined
  count(value: Json | undefined): number | undefined
  flag(value: Json | undefined): boolean | undefined
}

const JSON_READERS: Values = { number, count, flag }

function numberIn(value: Json | undefined): number | undefined {
  const fieldText = text(value)
  if (fieldText === undefined) return undefined
  if (!isNumeral(fieldText)) throw WrongType.instance
  return Number(fieldText)
}

const FORM_READERS: Values = {
  number: numberIn,
  count: value => positiveCount(numberIn(value)),
  flag: value => {
    const fieldText = text(value)
    if (fieldText === undefined) return undefined
    if (!isFlag(fieldText)) throw WrongType.instance
    return fieldText.toLowerCase() === 'true'
  },
}

function readOutput(body: JsonObject, { number, count }: Values, unreadFields: string[]): Output {
  const value = text(body['output_format'])
  const image = definedIfAny({
    size: text(body['size']),
    quality: text(body['quality']),
    style: text(body['style']),
    background: text(body['background']),
    mediaType: value === undefined ? undefined : mediaTypeOfName(value),
    compression: number(body['output_compression']),
    fidelity: text(body['input_fidelity']),
    moderation: text(body['moderation']),
    previews: number(body['partial_images']),
    delivery: readDelivery(text(body['response_format']), unreadFields),
  })
  return {
    modalities: ['image'],
    ...defined({ candidates: count(body['n']), image }),
  }
}

/** Deliveries by `response_format`. `base64` is Together's word (docs/wire/images.md#beyond-the-description). */
const DELIVERIES: { readonly [value: string]: 'url' | 'bytes' } = { url: 'url', b64_json: 'bytes', base64: 'bytes' }

function readDelivery(value: string | undefined, unreadFields: string[]): 'url' | 'bytes' | undefined {
  if (value === undefined) return undefined
  if (Object.hasOwn(DELIVERIES, value)) return DELIVERIES[value]
  unreadFields.push('response_format')
  return undefined
}

const PROMPT: Path = ['prompt']

/** Locates the prompt and the images, each image by its index among the values of its field. */
export function locate(request: CanonicalRequest): Locate {
  const { body, files = [] } = wireSourceOf<WireRequest>(request, FORMAT)!.wire
  const images = [...readReferencedImages(body), ...readFiles(files)].map(({ at }) => at)
  const parts = typeof body['prompt'] === 'string' ? [PROMPT, ...images] : images
  return locator('prompt', [{ at: PROMPT, parts }], PROMPT)
}

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  'output/candidates': ['n'],
  'output/image/background': ['background'],
  'output/image/compression': ['output_compression'],
  'output/image/delivery': ['response_format'],
  'output/image/fidelity': ['input_fidelity'],
  'output/image/mediaType': ['output_format'],
  'output/image/moderation': ['moderation'],
  'output/image/previews': ['partial_images'],
  'output/image/quality': ['quality'],
  'output/image/size': ['size'],
  'output/image/style': ['style'],
  'output/image': ['prompt', 'image', 'images'],
  'output/modalities': ['prompt', 'image', 'images'],
  endUser: ['safety_identifier', 'user'],
  stream: ['stream'],
}
