import type { MediaPart, Part } from '../../../src/canonical/content.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { workOf } from '../../../src/canonical/work.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import type { ChannelFormat } from '../../../src/formats/channel-format.ts'

/** Stands for whatever is at an address. */
const BYTES = { type: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const

/** Returns the request after the gateway fetched the media whose addresses the upstream does not take. */
export function withFetchedMedia(
  request: CanonicalRequest,
  { format, dialect }: ChannelFormat,
  native: boolean,
): CanonicalRequest {
  const { mustFetch, mustFetchNative } = WRITERS[format]!
  const mayFetch = !native || (typeof mustFetchNative === 'function' ? mustFetchNative(dialect) : mustFetchNative)
  if (mayFetch !== true || mustFetch === undefined) return request
  const work = workOf(request)
  const fetched = (part: Part, inResult: boolean): Part => {
    if (part.type === 'tool-result') return { ...part, content: part.content.map(one => fetched(one, true)) as never }
    return part.type === 'media' && isAtUrl(part) && mustFetch(part, dialect, work, inResult)
      ? { ...part, source: BYTES }
      : part
  }
  const messages = request.messages.map(message => ({
    ...message,
    content: message.content.map(part => fetched(part, false)),
  }))
  return { ...request, messages }
}

const isAtUrl = ({ source }: MediaPart): boolean => source.type === 'url'
