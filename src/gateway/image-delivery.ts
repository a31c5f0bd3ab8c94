import type { MediaPart, Part } from '../canonical/content.ts'
import type { Loss, Path } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Candidate } from '../canonical/result.ts'
import type { Call } from './call.ts'
import type { ImageStore } from './image-store.ts'
import type { Answered } from './write-result.ts'

/** What it takes to bring a picture the way its caller wants it. */
export interface DeliveryOptions {
  readonly call: Call
  readonly request: CanonicalRequest
  readonly pictures: ImageStore
  /** Where callers reach the gateway; by default the address the request itself came to. */
  readonly publicUrl: string | undefined
  /** The part with what is at its address; undefined where nothing is fetched. Rejects where it cannot be had. */
  fetch(part: MediaPart): Promise<MediaPart> | undefined
}

/** Below the gateway's address: where kept pictures are fetched. */
export const IMAGES_PATH = '/v1/images/files'

/**
 * An answer with its pictures the way their caller wants them: bytes behind an address of the gateway's, or what is at
 * an upstream's address fetched. What cannot be fetched stays an address, which is told.
 */
export async function deliverImages(answered: Answered, how: DeliveryOptions): Promise<Answered> {
  const losses: Loss[] = []
  const change = wantsAddress(how) ? addressed : wantsBytes(how) ? fetched : undefined
  if (change === undefined) return answered
  const candidates = answered.result.candidates.map(async (candidate, index): Promise<Candidate> => {
    const parts = candidate.content.map((part, at): Part | Promise<Part> =>
      part.type === 'media' && part.kind === 'image'
        ? change(part, how, ['candidates', index, 'content', at], losses)
        : part,
    )
    return { ...candidate, content: await Promise.all(parts) }
  })
  const result = { ...answered.result, candidates: await Promise.all(candidates) }
  return { ...answered, result, losses: [...answered.losses, ...losses] }
}

/** Models of that name give addresses where nothing else is said, and their callers count on it. */
const ADDRESSES = /^dall-e/i

function wantsAddress({ call, request }: DeliveryOptions): boolean {
  const { image } = request.output
  if (call.format !== 'images') return false
  return image?.delivery === 'url' || (image?.delivery === undefined && ADDRESSES.test(request.model))
}

/** Other formats have a picture itself in their answers. */
const wantsBytes = ({ call, request }: DeliveryOptions): boolean =>
  call.format !== 'images' || request.output.image?.delivery === 'bytes'

async function addressed(part: MediaPart, { call, pictures, publicUrl }: DeliveryOptions): Promise<MediaPart> {
  const { source } = part
  if (source.type !== 'base64') return part
  const token = await pictures.keep(source.mediaType, Buffer.from(source.data, 'base64'))
  return { ...part, source: { type: 'url', url: `${publicUrl ?? addressOf(call)}${IMAGES_PATH}/${token}` } }
}

async function fetched(part: MediaPart, { fetch }: DeliveryOptions, path: Path, losses: Loss[]): Promise<MediaPart> {
  if (part.source.type !== 'url') return part
  const kept = (): MediaPart => {
    losses.push({ kind: 'changed', path: [...path, 'source'], became: part.source, reason: 'address-not-fetched' })
    return part
  }
  return (await fetch(part)?.catch(kept)) ?? kept()
}

/**
 * The address the caller reached the gateway by. The host is the caller's own word, and only the caller is told it
 * again; what could not be one is not repeated.
 */
export function addressOf({ message }: Pick<Call, 'message'>): string {
  const { host = '', 'x-forwarded-proto': forwarded } = message.headers
  const said = String(forwarded ?? '')
    .split(',')[0]!
    .trim()
    .toLowerCase()
  const encrypted = (message.socket as { readonly encrypted?: boolean }).encrypted === true
  const scheme = said === 'http' || said === 'https' ? said : encrypted ? 'https' : 'http'
  const { localAddress = '127.0.0.1', localPort } = message.socket
  const own = `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
  return `${scheme}://${/^[a-z0-9.-]+(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/i.test(host) ? host : own}`
}
