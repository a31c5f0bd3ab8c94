import type { MediaPart, Part } from '../../canonical/content.ts'
import { type CanonicalError, GatewayError } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult, Finish } from '../../canonical/result.ts'

/** Whether the part is a generated image. */
export const isPicture = (part: Part): part is MediaPart & { source: { type: 'base64' } | { type: 'url' } } =>
  part.type === 'media' &&
  part.kind === 'image' &&
  part.use === undefined &&
  (part.source.type === 'base64' || part.source.type === 'url')

/** Whether the image is edited from others. */
export const startsFromImages = ({ messages }: CanonicalRequest): boolean =>
  messages.some(({ role, content }) => role === 'user' && content.some(part => part.type === 'media'))

/** The fields of an image. */
export const writePicture = ({ source }: MediaPart): JsonObject =>
  source.type === 'base64' ? { b64_json: source.data } : source.type === 'url' ? { url: source.url } : {}

/** The error for an answer without an image, with the model's text. */
export function noImageError({ candidates }: Pick<CanonicalResult, 'candidates'>): GatewayError {
  const output = candidates
    .flatMap(({ content }) => content.map(part => (part.type === 'text' || part.type === 'refusal' ? part.text : '')))
    .filter(text => text !== '')
    .join('\n')
  const refused = candidates.find(({ finish }) => finish?.reason === 'refused')
  return new GatewayError(refused === undefined ? notGenerated(output) : blocked(refused.finish!, output))
}

const notGenerated = (text: string): CanonicalError => ({
  kind: 'upstream-failed',
  code: 'no_image',
  message: text === '' ? 'The model generated no image.' : `The model generated no image but this text: ${text}`,
})

const blocked = ({ raw }: Finish, text: string): CanonicalError => ({
  kind: 'invalid-request',
  code: 'moderation_blocked',
  message: `The image was refused${raw === undefined ? '' : ` (${raw})`}${text === '' ? '.' : `: ${text}`}`,
})
