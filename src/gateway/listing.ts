import { isObject, parseObject } from '../canonical/node.ts'
import { withoutByteOrderMark } from '../canonical/text.ts'
import type { WireRequest } from '../canonical/wire.ts'
import type { ChannelFormat } from '../config/index.ts'
import { FORMAT_FACTS } from '../formats/index.ts'
import { type Channel, headerValue } from '../upstreams/channel/index.ts'

/** Time between two refreshes of all lists, in milliseconds. */
const REFRESH_INTERVAL = 10 * 60_000
/** Time until the next refresh if a list could not be read, in milliseconds. */
const RETRY_DELAY = 30_000
/** Maximum size of a list of models, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024

/** Endpoint where most upstreams list their models. */
const DEFAULT_ENDPOINT: Omit<WireRequest, 'body'> = { path: '/models', query: {}, headers: {} }

/**
 * Refreshes the model lists of channels whose config has patterns. After a failure, a channel continues to use its last
 * list.
 */
export class Listing {
  private readonly channels: () => readonly Channel[]
  private timer: NodeJS.Timeout | undefined

  constructor(channels: () => readonly Channel[]) {
    this.channels = channels
  }

  /** Requests the lists of new channels. Does not postpone the next refresh of all lists. */
  add(channels: readonly Channel[]): void {
    const listing = channels.filter(hasPatterns)
    if (listing.length === 0) return
    if (this.timer === undefined) this.schedule(REFRESH_INTERVAL)
    void this.update(listing)
  }

  private refresh(): void {
    this.timer = undefined
    const listing = this.channels().filter(hasPatterns)
    if (listing.length === 0) return
    this.schedule(REFRESH_INTERVAL)
    void this.update(listing)
  }

  private async update(channels: readonly Channel[]): Promise<void> {
    const updated = await Promise.all(channels.map(updateListing))
    if (updated.includes(false)) this.schedule(RETRY_DELAY)
  }

  close(): void {
    clearTimeout(this.timer)
    this.schedule = () => {}
  }

  private schedule(milliseconds: number): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.refresh(), milliseconds).unref()
  }
}

const hasPatterns = ({ config }: Channel): boolean => config.models.patterns.length > 0

/** Requests a channel's list of models. Resolves to true if the channel has a list, new or old. Never rejects. */
export async function updateListing(channel: Channel): Promise<boolean> {
  try {
    const { status, ids } = await requestListing(channel)
    if (status === 200 && ids !== undefined) channel.listed = new Set(ids)
  } catch {
    // The list is requested again later. Until then the router accepts every model that matches the channel's patterns.
  }
  return channel.listed !== undefined
}

/** An upstream's answer to a request for its list of models. */
export interface ListingAnswer {
  readonly status: number
  /** Time of the upstream's clock, in milliseconds, or undefined without a `date` header. */
  readonly clock: number | undefined
  /** Ids of the models, or undefined if the body is not a list. */
  readonly ids: readonly string[] | undefined
}

/** Requests an upstream's list of models. Rejects with GatewayError if there is no answer. */
export async function requestListing({ sender }: Channel): Promise<ListingAnswer> {
  const format: ChannelFormat = sender.config.formats[0]!
  await sender.ready()
  const answer = await sender.call('GET', format, endpointOf(format)).answer
  const ids = idsOf(parseObject(withoutByteOrderMark(await answer.text(MAX_BYTES))) ?? {})
  const clock = Date.parse(headerValue(answer.headers['date']))
  return { status: answer.status, clock: Number.isNaN(clock) ? undefined : clock, ids }
}

/** Returns the endpoint of the list. If the channel's version is a date, it replaces the format's default version. */
function endpointOf({ format, dialect }: ChannelFormat): Omit<WireRequest, 'body'> {
  const listing = FORMAT_FACTS.get(format)?.listing
  const { version } = dialect as { readonly version?: unknown }
  if (listing?.versionHeader === undefined || typeof version !== 'string' || !DATE_VERSION.test(version))
    return listing ?? DEFAULT_ENDPOINT
  const { versionHeader, ...endpoint } = listing
  return { ...endpoint, headers: { ...endpoint.headers, [versionHeader]: version } }
}

/** Matches a version that is a date. */
const DATE_VERSION = /^\d{4}-\d{2}-\d{2}$/

/**
 * Returns the ids in a list: `{data: [{id}]}` for the formats under `/v1`, or `{models: [{name: "models/…"}]}` for
 * Google, or undefined for any other body.
 */
function idsOf(body: { readonly [key: string]: unknown }): string[] | undefined {
  const modelRows = [body['data'], body['models']].find(Array.isArray)
  return modelRows?.filter(isObject).flatMap(row => {
    const id = row['id'] ?? row['name']
    return typeof id === 'string' ? [id.replace(/^models\//, '')] : []
  })
}
