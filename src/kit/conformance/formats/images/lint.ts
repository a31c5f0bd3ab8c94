import type { FormFile, Headers, RequestOnWire } from '../../format.ts'
import { type Json, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'
import { containerOf, typeFault } from '../../media/containers.ts'
import { totalFault } from '../../media/usage.ts'
import { numberIn } from '../../media/values.ts'
import { type Violation, Violations } from '../../rules.ts'
import { imageFiles } from './request.ts'

/* Rules for requests and whole answers that the published schema cannot express. */

/** Describes how an image contradicts the file format that the answer names, if it does. */
export function imageFault({ b64_json: base64 }: JsonObject, format: Json | undefined): string | undefined {
  if (typeof base64 !== 'string') return undefined
  const found = containerOf(Buffer.from(base64, 'base64'))
  if (found === undefined) return `The image begins like no known file format: ${base64.slice(0, 16)}`
  return format === undefined || format === found
    ? undefined
    : `output_format is ${String(format)}, but the image is ${found}.`
}

/** Fields of a form. Source: the descriptions of createImageEdit and createImageVariation. */
const FIELDS = new Set([
  ...['image', 'image[]', 'mask', 'prompt', 'model', 'n', 'size', 'quality', 'background', 'input_fidelity'],
  ...['output_format', 'output_compression', 'partial_images', 'response_format', 'stream', 'user'],
])

function formFaults(body: JsonObject, files: readonly FormFile[], path: string, violations: Violations): void {
  const images = imageFiles(files)
  if (images.length === 0) violations.add('form-image', 'The form has no image.')
  const single = images.filter(({ field }) => field === 'image')
  if (images.length > 1 && single.length > 0)
    violations.add('form-image', `${images.length} images, ${single.length} of them in the field image.`)
  if (path.endsWith('/edits') && !textOf(body['prompt'])) violations.add('form-prompt', 'The form has no prompt.')
  for (const name of [...Object.keys(body), ...files.map(({ field }) => field)])
    if (!FIELDS.has(name)) violations.add('form-fields', `The form has a field ${name}.`)
  for (const { field, type, bytes } of files) {
    const fault = type.startsWith('image/') ? typeFault(type, bytes) : `${type} is not an image type.`
    if (fault !== undefined) violations.add('file-type', `${field}: ${fault}`)
  }
}

export function requestLint(
  body: JsonObject,
  _headers: Headers,
  path: string,
  files?: readonly FormFile[],
): readonly Violation[] {
  const violations = new Violations()
  if (files !== undefined) formFaults(body, files, path, violations)
  return violations.list
}

export function answerLint(body: JsonObject, _headers: Headers, request: RequestOnWire): readonly Violation[] {
  const violations = new Violations()
  const images = listOf(body['data']).map(objectOf)
  if (images.length === 0) violations.add('image-present', 'The answer has no image.')
  for (const [index, image] of images.entries()) {
    if (!textOf(image['b64_json']) && !textOf(image['url']))
      violations.add('image-present', `Image ${index} has neither b64_json nor url.`)
    const fault = imageFault(image, body['output_format'])
    if (fault !== undefined) violations.add('image-is-format', `Image ${index}: ${fault}`)
  }
  const imageCount = numberIn(request.body['n']) ?? 1
  if (images.length > 0 && images.length !== imageCount)
    violations.add('count', `${images.length} images arrived, but ${imageCount} were requested.`)
  const fault = totalFault(objectOf(body['usage']))
  if (fault !== undefined) violations.add('usage-adds-up', fault)
  return violations.list
}
