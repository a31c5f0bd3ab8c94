import type { MediaPart, Part } from '../canonical/content.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Loss, Path } from '../canonical/loss.ts'
import type { Candidate } from '../canonical/result.ts'
import { WRITERS } from '../egress/index.ts'
import { storeFault } from '../store/fault.ts'
import type { Fetch } from './image-store.ts'
import type { Attempt, WholeAnswer } from './types.ts'

/** Path below which stored images are downloaded. */
export const IMAGES_PATH = '/v1/images/files'

/**
 * Delivers an answer's images in the form that the caller requested: as gateway URLs or as bytes. If the upstream sent
 * a URL, its bytes are fetched. An image that cannot be fetched remains a URL, and an image that cannot be stored
 * remains bytes. Both count as losses.
 */
export async function deliverImages(attempt: Attempt, wholeAnswer: WholeAnswer): Promise<WholeAnswer> {
  const losses: Loss[] = []
  const change = changeOf(attempt)
  if (change === undefined) return wholeAnswer
  const candidates = wholeAnswer.result.candidates.map(async (candidate, index): Promise<Candidate> => {
    const parts = candidate.content.map((part, at): Part | Promise<Part> =>
      part.type === 'media' && part.kind === 'image'
        ? change(part, attempt, ['candidates', index, 'content', at], losses)
        : part,
    )
    return { ...candidate, content: await Promise.all(parts) }
  })
  const result = { ...wholeAnswer.result, candidates: await Promise.all(candidates) }
  return { ...wholeAnswer, result, losses: [...wholeAnswer.losses, ...losses] }
}

/** Returns the change that the answer's images need, or undefined if they need none. */
function changeOf(attempt: Attempt): typeof withUrl | undefined {
  if (wantsUrl(attempt)) return withUrl
  return wantsBytes(attempt) ? fetchWith(attempt.images.fetching()) : undefined
}

/** Matches models whose answers contain URLs by default. Their clients rely on URLs. */
const MODELS_WITH_URLS = /^dall-e/i

function wantsUrl({ incoming: { call }, request }: Attempt): boolean {
  const { image } = request.output
  if (WRITERS[call.format]!.imageUrls !== true) return false
  return image?.delivery === 'url' || (image?.delivery === undefined && MODELS_WITH_URLS.test(request.model))
}

/** Matches models that never answer with URLs. Their clients read bytes alone (docs/wire/images.md#response). */
const MODELS_WITH_BYTES = /\bgpt-image/i

function wantsBytes({ incoming: { call }, request }: Attempt): boolean {
  const { image } = request.output
  if (WRITERS[call.format]!.imageUrls !== true) return true
  return image?.delivery === 'bytes' || (image?.delivery === undefined && MODELS_WITH_BYTES.test(request.model))
}

async function withUrl(
  part: MediaPart,
  { incoming: { call }, images }: Attempt,
  path: Path,
  losses: Loss[],
): Promise<MediaPart> {
  const { source } = part
  if (source.type !== 'base64') return part
  try {
    const token = await images.store.add(source.mediaType, base64Chunks(source.data))
    return { ...part, source: { type: 'url', url: `${images.baseOf(call.message)}${IMAGES_PATH}/${token}` } }
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) && storeFault(thrown) === undefined) throw thrown
    losses.push({ kind: 'changed', path: [...path, 'source', 'type'], became: source.type, reason: 'image-not-kept' })
    return part
  }
}

const fetchWith =
  (fetch: Fetch | undefined): typeof withUrl =>
  async (part, _, path, losses) => {
    if (part.source.type !== 'url') return part
    const keepUrl = (): MediaPart => {
      losses.push({ kind: 'changed', path: [...path, 'source'], became: part.source, reason: 'address-not-fetched' })
      return part
    }
    return (await fetch?.(part).catch(keepUrl)) ?? keepUrl()
  }

/** Number of base64 characters decoded at once. Must be a multiple of 4. */
const CHUNK_LENGTH = 256 * 1024

/** Decodes base64 in chunks, as leniently as `Buffer.from`. */
export function* base64Chunks(text: string): Generator<Uint8Array> {
  let remainder = ''
  for (let from = 0; from < text.length; from += CHUNK_LENGTH) {
    const chunk = remainder + text.slice(from, from + CHUNK_LENGTH).replaceAll(/[^\w+/-]/g, '')
    const usableLength = chunk.length - (chunk.length % 4)
    if (usableLength > 0) yield Buffer.from(chunk.slice(0, usableLength), 'base64')
    remainder = chunk.slice(usableLength)
  }
  if (remainder.length > 1) yield Buffer.from(remainder, 'base64')
}
