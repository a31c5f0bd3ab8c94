import type { Log } from '../../log.ts'
import type { Turn } from '../../store/turns.ts'
import { channelOfAccount } from '../../upstreams/accounts-of-channels.ts'
import type { Channel } from '../../upstreams/channel/index.ts'
import type { StoredFormat } from './stored-format.ts'
import { formatOfAnswer } from './stored-formats.ts'

/** Timeout for deleting or cancelling a response at an upstream, in milliseconds. */
const COPY_TIMEOUT = 5000

/** Maximum size of an answer read from an upstream, in bytes. */
const MAX_ANSWER = 1024 * 1024

/** A response stored at the upstream of a channel. */
export interface UpstreamCopy {
  readonly channel: string
  readonly id: string
  readonly format: StoredFormat
}

/** Deletes and cancels the copies of responses at upstreams, within a timeout. Failures are logged. */
export class Copies {
  private readonly channels: () => readonly Channel[]
  private readonly log: Log

  constructor(channels: () => readonly Channel[], log: Log) {
    this.channels = channels
    this.log = log
  }

  /** Deletes a response at its upstream. Never rejects. */
  remove(copy: UpstreamCopy): Promise<void> {
    return this.send('DELETE', copy, '', 'an upstream still stores a response that was deleted here')
  }

  /** Cancels a response at its upstream. Never rejects. */
  cancel(copy: UpstreamCopy): Promise<void> {
    return this.send('POST', copy, '/cancel', 'an upstream still works on a response that was cancelled here')
  }

  private async send(
    method: 'DELETE' | 'POST',
    { channel: name, id, format: { format: formatName, upstreamPath } }: UpstreamCopy,
    suffix: string,
    fault: string,
  ) {
    const fields = { channel: name, upstream_id: id }
    const channel = channelOfAccount(name, this.channels())
    const format = channel?.config.formats.find(({ format }) => format === formatName)
    if (channel === undefined || format === undefined) return this.log.warn(fields, fault)
    const endpoint = { path: `${upstreamPath(id)}${suffix}`, query: {}, headers: {} }
    const exchange = channel.call(method, format, endpoint)
    const timer = setTimeout(() => exchange.abort(), COPY_TIMEOUT)
    try {
      const answer = await exchange.answer
      await answer.text(MAX_ANSWER)
      // A response unknown to the upstream needs no deletion.
      if (answer.status > 299 && answer.status !== 404) this.log.warn({ ...fields, status: answer.status }, fault)
    } catch (err) {
      this.log.warn({ ...fields, err }, fault)
    } finally {
      clearTimeout(timer)
      exchange.discardRest()
    }
  }
}

/** The upstream's copy of a turn. Returns undefined if there is none. */
export function copyOf({ id, channel, remembered, copy, response }: Turn): UpstreamCopy | undefined {
  if (channel === undefined) return undefined
  const format = formatOfAnswer(response)
  if (copy !== undefined) return { channel, id: copy, format }
  return remembered === true ? { channel, id, format } : undefined
}
