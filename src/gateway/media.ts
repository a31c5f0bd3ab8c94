import type { MediaPart, Part } from '../canonical/content.ts'
import { GatewayError } from '../canonical/error.ts'
import type { CanonicalRequest, Message } from '../canonical/request.ts'
import { type Work, workOf } from '../canonical/work.ts'
import type { MediaConfig } from '../config/index.ts'
import { WRITERS } from '../egress/index.ts'
import type { Dialect, Writer } from '../egress/writer.ts'
import type { Meter } from '../ingress/transport/body.ts'
import {
  AddressGuard,
  isInternal,
  MediaFetcher,
  mediaTypeOf,
  type Resolve,
  SNIFF_BYTES,
} from '../upstreams/channel/index.ts'
import type { Target } from '../upstreams/router.ts'
import type { Reply } from './call.ts'
import { CALLER_GONE } from './failures.ts'
import type { Fetch } from './image-store.ts'
import { inBase64 } from './write-result.ts'

/** Caller on whose behalf media are fetched, and meter that counts their bytes in memory. */
export interface FetchContext {
  readonly reply: Reply
  meter(): Meter
}

/**
 * Prepares media for a target: converts bytes to base64 for formats that are pure JSON, fetches URLs that the upstream
 * does not accept, and checks URLs that are passed on (trap 50).
 */
export class Media {
  private readonly config: MediaConfig
  private readonly fetcher: MediaFetcher | undefined
  private readonly guard: AddressGuard

  constructor(config: MediaConfig, resolve?: Resolve) {
    this.config = config
    this.fetcher = config.fetch ? new MediaFetcher({ ...config, size: config.limit }) : undefined
    this.guard = new AddressGuard(config.allow, resolve)
  }

  /**
   * Returns whether the request's media must be changed or checked before the request is sent, or undefined for most
   * requests, which skip the asynchronous step. Token counts fetch nothing.
   */
  concerns(request: CanonicalRequest, target: Target): 'change' | 'check' | undefined {
    let taskFor: TaskFor | undefined
    let concern: 'check' | undefined
    for (const { content } of request.messages)
      for (const part of content) {
        if (part.type !== 'media' && part.type !== 'tool-result') continue
        taskFor ??= this.tasksFor(target, workOf(request))
        const kind = concernOf(part, taskFor, false)
        if (kind === 'change') return kind
        concern ??= kind
      }
    return concern
  }

  /**
   * Returns the request with media that the target accepts. Stops fetching when the caller leaves.
   *
   * @throws GatewayError `invalid-request` for media that cannot be fetched, and for a URL that must not be passed on;
   * `too-large` for media over the limit; `cancelled` if the caller left; and the errors of the meter, which is opened
   * for the first fetch.
   */
  async prepared(request: CanonicalRequest, target: Target, { reply, meter }: FetchContext): Promise<CanonicalRequest> {
    if (reply.gone) throw CALLER_GONE
    const batch = this.fetcher && new MediaBatch(this.fetcher, this.config, meter)
    const taskFor = this.tasksFor(target, workOf(request), batch)
    const messages = request.messages.map(async (message): Promise<Message> => {
      const content = await contentAfterTasks(message.content, taskFor, false)
      return content === message.content ? message : { ...message, content }
    })
    reply.abortable = { abort: () => batch?.stop() }
    try {
      const prepared = await Promise.all(messages)
      return prepared.every((message, index) => message === request.messages[index])
        ? request
        : { ...request, messages: prepared }
    } catch (thrown) {
      throw reply.gone ? CALLER_GONE : thrown
    } finally {
      reply.abortable = undefined
      batch?.stop()
    }
  }

  /**
   * Returns a fetcher for the media of one answer, with the limits of one request, or undefined if fetching is switched
   * off.
   */
  fetching(): Fetch | undefined {
    const batch = this.fetcher && new MediaBatch(this.fetcher, this.config)
    return batch && (part => batch.fetchOne(part))
  }

  async close(): Promise<void> {
    await this.fetcher?.close()
  }

  /**
   * Returns this object if the media config is unchanged, or else a new one. The old object finishes the fetches in
   * progress.
   */
  reloaded(config: MediaConfig): Media {
    if (JSON.stringify(config) === JSON.stringify(this.config)) return this
    void this.close()
    return new Media(config)
  }

  /** Returns a function that chooses the task for each media part. Most parts need none. */
  private tasksFor({ channel, format, native }: Target, work: Work, batch?: MediaBatch): TaskFor {
    const { bytes, mustFetch, mustFetchNative } = WRITERS[format.format]!
    const fetching: Task = { kind: 'change', run: part => batch!.fetch(part) }
    const checking: Task | undefined =
      channel.anyAddress === true ? undefined : { kind: 'check', run: part => this.checkedPart(part, format.baseUrl) }
    return (part, inResult) => {
      if (part.source.type === 'bytes')
        return work === 'count' || takesBytes(bytes, format.dialect) ? undefined : IN_BASE64
      if (part.source.type !== 'url') return undefined
      const mayFetch =
        this.fetcher !== undefined && (!native || fetchesNative(mustFetchNative, format.dialect)) && work !== 'count'
      return mayFetch && mustFetch?.(part, format.dialect, work, inResult) === true ? fetching : checking
    }
  }

  /**
   * Returns the part if its URL may be passed on. Resolves the host name only for an upstream in the same network,
   * which would resolve it to the same address.
   *
   * @throws GatewayError `invalid-request` for a URL that must not be passed on.
   */
  private async checkedPart(part: MediaPart, baseUrl: string): Promise<MediaPart> {
    const name = this.guard.check((part.source as { readonly url: string }).url)
    if (name !== undefined && this.fetcher !== undefined && isInternal(baseUrl)) await this.guard.checkName(name)
    return part
  }
}

/** A change or check of a media part before the request is sent. */
interface Task {
  readonly kind: 'change' | 'check'
  run(part: MediaPart): Promise<MediaPart>
}

const IN_BASE64: Task = { kind: 'change', run: inBase64 }

type TaskFor = (part: MediaPart, inResult: boolean) => Task | undefined

const takesBytes = (bytes: Writer['bytes'], dialect: Dialect): boolean =>
  typeof bytes === 'function' ? bytes(dialect) : bytes === true

const fetchesNative = (must: Writer['mustFetchNative'], dialect: Dialect): boolean =>
  typeof must === 'function' ? must(dialect) : must === true

function concernOf(part: Part, taskFor: TaskFor, inResult: boolean): Task['kind'] | undefined {
  if (part.type === 'media') return taskFor(part, inResult)?.kind
  if (part.type !== 'tool-result') return undefined
  const kinds = part.content.map(inner => concernOf(inner, taskFor, true))
  return kinds.includes('change') ? 'change' : kinds.find(kind => kind !== undefined)
}

/** Runs every task on the content. Returns the same list if nothing changed. */
async function contentAfterTasks(
  content: readonly Part[],
  taskFor: TaskFor,
  inResult: boolean,
): Promise<readonly Part[]> {
  const parts = await Promise.all(
    content.map(async (part): Promise<Part> => {
      if (part.type === 'media') return (await taskFor(part, inResult)?.run(part)) ?? part
      if (part.type !== 'tool-result') return part
      const inner = await contentAfterTasks(part.content, taskFor, true)
      return inner === part.content ? part : { ...part, content: inner }
    }),
  )
  return parts.every((part, index) => part === content[index]) ? content : parts
}

/** Limits of one request: number of media and total size in bytes. A URL counts each time that it is mentioned. */
type MediaBatchLimits = Pick<MediaConfig, 'count' | 'total'>

interface FetchedMedia {
  readonly declaredType: string
  readonly head: Buffer
  readonly data: string
  readonly size: number
}

/** Fetches the media of one request or answer, each URL once. */
class MediaBatch {
  private readonly fetcher: MediaFetcher
  private readonly limits: MediaBatchLimits
  private readonly openMeter: (() => Meter) | undefined
  private meter: Meter | undefined
  private readonly downloads = new Map<string, Promise<FetchedMedia>>()
  private readonly stopSignal = new AbortController()
  private mentions = 0
  private bytes = 0

  /** @param meter opened for the first fetch. Counts bytes in memory until every fetch has finished. */
  constructor(fetcher: MediaFetcher, limits: MediaBatchLimits, meter?: () => Meter) {
    this.fetcher = fetcher
    this.limits = limits
    this.openMeter = meter
  }

  /** Like `fetchOne`, but cancels all other fetches once one fails. */
  async fetch(part: MediaPart): Promise<MediaPart> {
    try {
      return await this.fetchOne(part)
    } catch (thrown) {
      this.stop()
      throw thrown
    }
  }

  /**
   * Fetches the part's URL and returns the part with the bytes in base64.
   *
   * @throws GatewayError `invalid-request` if the fetch fails; `too-large` if all media together exceed the limit.
   */
  async fetchOne(part: MediaPart): Promise<MediaPart> {
    const { url } = part.source as { readonly url: string }
    if (++this.mentions > this.limits.count)
      throw tooLarge(`The request contains more than ${this.limits.count} media URLs to fetch.`)
    const loads = this.downloads.get(url)
    const { declaredType: claimed, head, data, size } = await (loads ?? this.load(url))
    if (loads !== undefined) this.countBytes(size)
    return { ...part, source: { type: 'base64', mediaType: mediaTypeOf(head, claimed, part.kind), data } }
  }

  /** Cancels the fetches in progress. */
  stop(): void {
    this.stopSignal.abort()
    this.meter?.close()
  }

  private load(url: string): Promise<FetchedMedia> {
    this.meter ??= this.openMeter?.()
    const watch = { signal: this.stopSignal.signal, take: (bytes: number) => this.countBytes(bytes) }
    const loading = this.fetcher.load(url, watch).then(({ declaredType, bytes }) => ({
      declaredType,
      head: Buffer.from(bytes.subarray(0, SNIFF_BYTES)),
      data: bytes.toString('base64'),
      size: bytes.length,
    }))
    this.downloads.set(url, loading)
    return loading
  }

  private countBytes(bytes: number): void {
    this.bytes += bytes
    this.meter?.take(bytes)
    if (this.bytes > this.limits.total) throw tooLarge(`The media exceed ${this.limits.total} bytes in total.`)
  }
}

const tooLarge = (message: string): GatewayError =>
  new GatewayError({ kind: 'too-large', message, code: 'media_not_fetched' })
