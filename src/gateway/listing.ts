import { isObject, parseObject } from '../canonical/node.ts'
import { withoutByteOrderMark } from '../canonical/text.ts'
import type { WireRequest } from '../canonical/wire.ts'
import type { ChannelFormat } from '../config/index.ts'
import { FORMATS } from '../formats/index.ts'
import type { Channel } from '../upstreams/channel/index.ts'

/** Milliseconds after which lists are requested again: all of them, and where one is missing. */
const EVERY = 10 * 60_000
const SOON = 30_000
/** Bytes a list may have. */
const LARGEST = 16 * 1024 * 1024

/** Where most upstreams list their models. */
const USUAL: Omit<WireRequest, 'body'> = { path: '/models', query: {}, headers: {} }

/** Keeps the model lists of channels that take whatever their upstream lists; a list once known outlives failures. */
export class Listing {
  private readonly channels: () => readonly Channel[]
  private timer: NodeJS.Timeout | undefined

  constructor(channels: () => readonly Channel[]) {
    this.channels = channels
  }

  refresh(): void {
    clearTimeout(this.timer)
    const wanting = this.channels().filter(channel => channel.config.models.patterns.length > 0)
    if (wanting.length === 0) return
    this.later(EVERY)
    void Promise.all(wanting.map(updateListing)).then(known => {
      if (known.includes(false)) this.later(SOON)
    })
  }

  close(): void {
    clearTimeout(this.timer)
    this.later = () => {}
  }

  private later(milliseconds: number): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.refresh(), milliseconds).unref()
  }
}

/** Requests a channel's list of models; gives whether its upstream has it, or had it before. Never rejects. */
export async function updateListing(channel: Channel): Promise<boolean> {
  const format: ChannelFormat = channel.config.formats[0]!
  try {
    await channel.ready()
    const answer = await channel.call('GET', format, FORMATS.get(format.format)?.listing ?? USUAL).answer
    const ids = idsOf(parseObject(withoutByteOrderMark(await answer.text(LARGEST))) ?? {})
    if (answer.status === 200 && ids !== undefined) channel.listed = new Set(ids)
  } catch {
    // The list is requested again later; until then the router takes any model the channel is configured for.
  }
  return channel.listed !== undefined
}

/** `{data: [{id}]}` of the families that began with `/v1`, `{models: [{name: "models/…"}]}` of the other; else it is no list. */
function idsOf(body: { readonly [key: string]: unknown }): string[] | undefined {
  const rows = [body['data'], body['models']].find(Array.isArray)
  return rows?.filter(isObject).flatMap(row => {
    const id = row['id'] ?? row['name']
    return typeof id === 'string' ? [id.replace(/^models\//, '')] : []
  })
}
