import type { MediaPart, Part } from '../canonical/content.ts'
import type { CanonicalRequest, Message } from '../canonical/request.ts'
import { type Work, workOf } from '../canonical/work.ts'
import { MediaFetcher } from '../channel.ts'
import type { MediaConfig } from '../config.ts'
import { WRITERS } from '../egress/index.ts'
import type { Dialect, Writer } from '../egress/writer.ts'
import type { Candidate } from '../router.ts'
import { inBase64 } from './told.ts'

/**
 * Brings media into the shape a candidate's format can say: bytes become base64 for formats that are JSON through and
 * through, and what stands at an address its upstream cannot be told is fetched (trap 50).
 */
export class Media {
  private readonly config: MediaConfig
  private readonly fetcher: MediaFetcher | undefined

  constructor(config: MediaConfig) {
    this.config = config
    this.fetcher = config.fetch ? new MediaFetcher({ ...config, size: config.limit }) : undefined
  }

  /**
   * Whether the request must change first. It hardly ever does, so nobody else waits for it; what is only counted is
   * not fetched.
   */
  concerns(request: CanonicalRequest, candidate: Candidate): boolean {
    const work = workOf(request)
    if (work === 'count') return false
    const change = this.changeFor(candidate, work)
    return request.messages.some(({ content }) => content.some(part => isChanged(part, change, false)))
  }

  /**
   * The request as the candidate can be told it.
   *
   * @throws GatewayError `invalid-request` for media that cannot be fetched.
   */
  async ready(request: CanonicalRequest, candidate: Candidate): Promise<CanonicalRequest> {
    const change = this.changeFor(candidate, workOf(request))
    const messages = request.messages.map(
      async (message): Promise<Message> => ({ ...message, content: await changed(message.content, change, false) }),
    )
    return { ...request, messages: await Promise.all(messages) }
  }

  /** The part with what is at its address, where anything is fetched at all. */
  fetch(part: MediaPart): Promise<MediaPart> | undefined {
    return this.fetcher && fetched(part, this.fetcher)
  }

  async close(): Promise<void> {
    await this.fetcher?.close()
  }

  /** The same, unless the config of it changed; the old one ends what it has begun. */
  reloaded(config: MediaConfig): Media {
    if (JSON.stringify(config) === JSON.stringify(this.config)) return this
    void this.close()
    return new Media(config)
  }

  /** What is to be done with a piece of media; nothing for most. */
  private changeFor({ format, native }: Candidate, work: Work): Change {
    const { bytes, fetches } = WRITERS[format.format]!
    return (part, inResult) => {
      if (part.source.type === 'bytes') return takesBytes(bytes, format.dialect) ? undefined : inBase64
      const fetcher = this.fetcher
      if (fetcher === undefined || part.source.type !== 'url' || native) return undefined
      return fetches?.(part, format.dialect, work, inResult) === true ? one => fetched(one, fetcher) : undefined
    }
  }
}

const takesBytes = (bytes: Writer['bytes'], dialect: Dialect): boolean =>
  typeof bytes === 'function' ? bytes(dialect) : bytes === true

type Change = (part: MediaPart, inResult: boolean) => ((part: MediaPart) => Promise<MediaPart>) | undefined

function isChanged(part: Part, change: Change, inResult: boolean): boolean {
  if (part.type === 'media') return change(part, inResult) !== undefined
  return part.type === 'tool-result' && part.content.some(inner => isChanged(inner, change, true))
}

const changed = (content: readonly Part[], change: Change, inResult: boolean): Promise<Part[]> =>
  Promise.all(
    content.map(async part => {
      if (part.type === 'media') return (await change(part, inResult)?.(part)) ?? part
      if (part.type === 'tool-result') return { ...part, content: await changed(part.content, change, true) }
      return part
    }),
  )

async function fetched(part: MediaPart, fetcher: MediaFetcher): Promise<MediaPart> {
  const { url } = part.source as { readonly url: string }
  const { mediaType, bytes } = await fetcher.fetch(url, part.kind)
  return { ...part, source: { type: 'base64', mediaType, data: bytes.toString('base64') } }
}
