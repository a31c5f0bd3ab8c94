import type { MediaPart } from '../canonical/content.ts'
import { GatewayError } from '../canonical/error.ts'
import { MARKS, type MediaFetcher, mediaTypeOf } from '../channel/index.ts'
import type { Meter } from '../ingress/transport/body.ts'

/** What one request may have fetched: how many things, and bytes of all of them as often as they are named. */
export interface MediaBatchLimits {
  readonly count: number
  readonly total: number
}

interface Gathered {
  readonly claimed: string
  readonly head: Buffer
  readonly data: string
  readonly size: number
}

/** Fetches the media of one request: each address once, and none any more once one failed or the caller left. */
export class MediaBatch {
  private readonly fetcher: MediaFetcher
  private readonly most: MediaBatchLimits
  private readonly openMeter: (() => Meter) | undefined
  private meter: Meter | undefined
  private readonly known = new Map<string, Promise<Gathered>>()
  private readonly stopping = new AbortController()
  private named = 0
  private bytes = 0

  /** @param meter opened where something is fetched, for what is in memory of it until all of it is there. */
  constructor(fetcher: MediaFetcher, most: MediaBatchLimits, meter?: () => Meter) {
    this.fetcher = fetcher
    this.most = most
    this.openMeter = meter
  }

  /**
   * The part with what is at its address.
   *
   * @throws GatewayError `invalid-request` where that cannot be had, `too-large` where all of it is too much.
   */
  async fetch(part: MediaPart): Promise<MediaPart> {
    const { url } = part.source as { readonly url: string }
    if (++this.named > this.most.count) throw tooLarge(`More than ${this.most.count} things would have to be fetched.`)
    try {
      const known = this.known.get(url)
      const { claimed, head, data, size } = await (known ?? this.load(url))
      if (known !== undefined) this.take(size)
      return { ...part, source: { type: 'base64', mediaType: mediaTypeOf(head, claimed, part.kind), data } }
    } catch (thrown) {
      this.stop()
      throw thrown
    }
  }

  /** Ends whatever is being fetched. */
  stop(): void {
    this.stopping.abort()
    this.meter?.close()
  }

  private load(url: string): Promise<Gathered> {
    this.meter ??= this.openMeter?.()
    const watch = { signal: this.stopping.signal, take: (bytes: number) => this.take(bytes) }
    const loading = this.fetcher.load(url, watch).then(({ claimed, bytes }) => ({
      claimed,
      head: Buffer.from(bytes.subarray(0, MARKS)),
      data: bytes.toString('base64'),
      size: bytes.length,
    }))
    this.known.set(url, loading)
    return loading
  }

  private take(bytes: number): void {
    this.bytes += bytes
    this.meter?.take(bytes)
    if (this.bytes > this.most.total) throw tooLarge(`The media are larger than ${this.most.total} bytes together.`)
  }
}

const tooLarge = (message: string): GatewayError =>
  new GatewayError({ kind: 'too-large', message, code: 'media_not_fetched' })
