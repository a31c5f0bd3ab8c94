import type { Part } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readValidated } from '../errors/validation-error.ts'
import { defined, required, rest, spelling, text } from '../fields.ts'
import { emptyField, emptyFields, FIELDS, FORMAT, hasImage, readFiles, readNamed } from './input-images.ts'
import { IN_FORM, IN_JSON, type Values } from './texts.ts'
import { mediaTypeOfName } from './types.ts'
import { EMPTY_IMAGE, NO_IMAGE, needsPrompt, requestAt } from './wire.ts'

/** `POST /v1/images/{generations,edits,variations}` (FORMATS §10), as JSON or as a form. */
export const readRequest = (wire: WireRequest): CanonicalRequest =>
  readValidated(
    () => requestAt(wire),
    wire.body,
    () => read(wire),
  )

function read(wire: WireRequest): CanonicalRequest {
  const { path, body, files } = wire
  const values = files === undefined ? IN_JSON : IN_FORM
  const refused: string[] = []
  const written = text(body['prompt'])
  const prompt = needsPrompt(wire) ? required(written) : written
  const texts: readonly Part[] = prompt === undefined ? [] : [{ type: 'text', text: prompt }]
  const user = text(body['user'])
  const safe = text(body['safety_identifier'])
  if (safe !== undefined && user !== undefined) refused.push('user')
  const output = readOutput(body, values, refused)
  const spelt = {
    path: path.replace(/^\/v1(?=\/)/, ''),
    form: files === undefined ? undefined : true,
    user: safe === undefined && user !== undefined ? 'user' : undefined,
    stream: values.flag(body['stream']) === false ? false : undefined,
    output_format: body['output_format'] ?? undefined,
    hollow: emptyFields(body),
    said: files === undefined ? undefined : spelledOtherwise(body, values),
  }
  const model = required(text(body['model']))
  const images = [...readNamed(body), ...readFiles(files ?? [])]
  if (!path.endsWith('/generations') && !hasImage(body, files)) throw wrong('image', NO_IMAGE)
  const empty = emptyField(images)
  if (empty !== undefined) throw wrong(empty, EMPTY_IMAGE)
  return {
    model,
    messages: [{ role: 'user', content: [...texts, ...images] }],
    output,
    sampling: {},
    ...defined({ endUser: safe ?? user }),
    stream: values.flag(body['stream']) ?? false,
    ...rest(FORMAT, body, TAKEN, spelling(spelt), refused),
  }
}

const wrong = (param: string, message: string): GatewayError =>
  new GatewayError({ kind: 'invalid-request', param, message: `${param}: ${message}` })

const TAKEN = new Set<string>([
  ...['model', 'prompt', 'n', 'size', 'quality', 'style', 'background', 'output_format', 'output_compression'],
  ...[
    'input_fidelity',
    'moderation',
    'response_format',
    'partial_images',
    'stream',
    'user',
    'safety_identifier',
    ...FIELDS,
  ],
])

const NUMBERS = ['n', 'output_compression', 'partial_images'] as const

/** Numbers and flags of a form that are not written in the canonical way. */
function spelledOtherwise(body: JsonObject, { number, flag }: Values): JsonObject | undefined {
  const odd = [
    ...NUMBERS.filter(field => body[field] != null && String(number(body[field])) !== body[field]),
    ...(body['stream'] != null && String(flag(body['stream'])) !== body['stream'] ? ['stream'] : []),
  ]
  return odd.length === 0 ? undefined : Object.fromEntries(odd.map(field => [field, body[field]!]))
}

function readOutput(body: JsonObject, { number, count }: Values, refused: string[]): Output {
  const value = text(body['output_format'])
  const image = defined({
    size: text(body['size']),
    quality: text(body['quality']),
    style: text(body['style']),
    background: text(body['background']),
    mediaType: value === undefined ? undefined : mediaTypeOfName(value),
    compression: number(body['output_compression']),
    fidelity: text(body['input_fidelity']),
    moderation: text(body['moderation']),
    previews: number(body['partial_images']),
    delivery: readDelivery(text(body['response_format']), refused),
  })
  return {
    modalities: ['image'],
    ...defined({
      candidates: count(body['n']),
      image: spelling(image as { [key: string]: Json }) === undefined ? undefined : image,
    }),
  }
}

const DELIVERIES: { readonly [value: string]: 'url' | 'bytes' } = { url: 'url', b64_json: 'bytes' }

function readDelivery(value: string | undefined, refused: string[]): 'url' | 'bytes' | undefined {
  if (value === undefined) return undefined
  if (Object.hasOwn(DELIVERIES, value)) return DELIVERIES[value]
  refused.push('response_format')
  return undefined
}
