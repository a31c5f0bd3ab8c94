import type { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { withFields } from '../native.ts'

/* Settings of images that upstreams with `output_settings: false` refuse (docs/wire/images.md#beyond-the-description). */

/** Settings of the canonical model, with their loss reasons. Without `auto`, the model chooses as well. */
const SETTING_LOSSES = {
  background: 'no-choice-of-background',
  mediaType: 'no-choice-of-media-type',
  compression: 'no-choice-of-compression',
  fidelity: 'no-choice-of-fidelity',
  moderation: 'no-choice-of-moderation',
  previews: 'no-unfinished-pictures',
}

/** Fields of such settings. */
const OUTPUT_FIELDS = [
  ...['background', 'output_format', 'output_compression', 'input_fidelity', 'moderation', 'partial_images', 'stream'],
]

/** Returns the request without such settings. Answers are sent whole, and the gateway streams them to the caller. */
export function withoutOutputSettings(request: CanonicalRequest, losses: Losses): CanonicalRequest {
  const { output, stream } = request
  if (stream) losses.changeRestored(['stream'], false, 'answered-whole')
  if (output.image === undefined) return { ...request, stream: false }
  for (const [field, reason] of Object.entries(SETTING_LOSSES)) {
    const value = output.image[field as keyof typeof SETTING_LOSSES]
    if (value === 'auto') losses.dropRestored(['output', 'image', field], 'left-to-the-model-anyway')
    else if (value !== undefined) losses.drop(['output', 'image', field], reason)
  }
  const { background, mediaType, compression, fidelity, moderation, previews, ...image } = output.image
  return { ...request, stream: false, output: { ...output, image } }
}

/** Returns a native body without such settings. */
export function withoutOutputFields(body: JsonObject, request: CanonicalRequest, losses: Losses): JsonObject {
  withoutOutputSettings(request, losses)
  return withFields(body, {}, OUTPUT_FIELDS)
}
