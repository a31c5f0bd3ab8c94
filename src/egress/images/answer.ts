import type { MediaPart, Part } from '../../canonical/content.ts'
import { type CanonicalError, GatewayError } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult, Finish } from '../../canonical/result.ts'

/** A picture the model made. */
export const isPicture = (part: Part): part is MediaPart & { source: { type: 'base64' } | { type: 'url' } } =>
  part.type === 'media' &&
  part.kind === 'image' &&
  part.use === undefined &&
  (part.source.type === 'base64' || part.source.type === 'url')

/** Whether a picture is to be made of others. */
export const startsFromPictures = ({ messages }: CanonicalRequest): boolean =>
  messages.some(({ role, content }) => role === 'user' && content.some(part => part.type === 'media'))

/** The fields of a picture. */
export const writePicture = ({ source }: MediaPart): JsonObject =>
  source.type === 'base64' ? { b64_json: source.data } : source.type === 'url' ? { url: source.url } : {}

/** What a caller who wants a picture is told when there is none: what the model said in its place. */
export function pictureless({ candidates }: Pick<CanonicalResult, 'candidates'>): GatewayError {
  const said = candidates
    .flatMap(({ content }) => content.map(part => (part.type === 'text' || part.type === 'refusal' ? part.text : '')))
    .filter(text => text !== '')
    .join('\n')
  const refused = candidates.find(({ finish }) => finish?.reason === 'refused')
  return new GatewayError(refused === undefined ? unmade(said) : blocked(refused.finish!, said))
}

const unmade = (said: string): CanonicalError => ({
  kind: 'upstream-failed',
  code: 'no_image',
  message: said === '' ? 'The model made no picture.' : `The model made no picture but said: ${said}`,
})

const blocked = ({ raw }: Finish, said: string): CanonicalError => ({
  kind: 'invalid-request',
  code: 'moderation_blocked',
  message: `The picture was refused${raw === undefined ? '' : ` (${raw})`}${said === '' ? '.' : `: ${said}`}`,
})
