import { isObject, parseObject } from '../canonical/node.ts'
import type { WireRequest } from '../canonical/wire.ts'
import type { Channel } from '../channel/index.ts'
import type { ChannelFormat } from '../config/index.ts'
import { withoutByteOrderMark } from '../ingress/transport/byte-order-mark.ts'

/** Milliseconds after which lists are asked for again: all of them, and where one could not be had at all. */
const EVERY = 10 * 60_000
const SOON = 30_000
/** Bytes a list may have. */
const LARGEST = 16 * 1024 * 1024

/** Where an upstream lists its models, by the format it speaks; the formats of one family agree. */
const PLACES: { readonly [format: string]: Omit<WireRequest, 'body'> } = {
  messages: { path: '/v1/models', query: { limit: '1000' }, headers: { 'anthropic-version': '2023-06-01' } },
  cohere: { path: '/v1/models', query: { page_size: '1000' }, headers: {} },
  contents: { path: '/v1beta/models', query: { pageSize: '1000' }, headers: {} },
}
const FAMILY: Omit<WireRequest, 'body'> = { path: '/models', query: {}, headers: {} }

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
    void Promise.all(wanting.map(ask)).then(known => {
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

/** Whether the channel's list is known now. */
async function ask(channel: Channel): Promise<boolean> {
  const format: ChannelFormat = channel.config.formats[0]!
  try {
    await channel.ready()
    const answer = await channel.call('GET', format, PLACES[format.format] ?? FAMILY).answer
    const ids = idsOf(parseObject(withoutByteOrderMark(await answer.text(LARGEST))) ?? {})
    if (answer.status === 200 && ids !== undefined) channel.listed = new Set(ids)
  } catch {
    // What the upstream cannot tell now it may tell later; until then the router takes any model it is configured for.
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
