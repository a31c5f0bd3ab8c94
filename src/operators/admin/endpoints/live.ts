import * as v from 'valibot'
import { defined } from '../../../canonical/node.ts'
import { fields, instant, instantOf } from '../../../config/schema.ts'
import type { LiveBeginning, LiveEvent, LiveListener } from '../../../gateway/captured.ts'
import type { Reply } from '../../../gateway/index.ts'
import type { Principal } from '../../sign-in/index.ts'
import type { Administration } from '../administration.ts'
import { authenticate } from '../authenticate.ts'
import { endpoint, type LiveExchange } from '../endpoint.ts'
import { Problem } from '../problem.ts'
import { REQUEST } from '../shapes.ts'
import { requestView } from './requests.ts'

/** Most open streams per process. */
const MOST_LISTENERS = 50
/** Most open streams of one user or token, so that nobody can use up the total. */
const MOST_OF_ONE = 10
/** Milliseconds; heartbeat interval, and longest duration of a stream, after which clients reconnect. */
const BEAT = 15_000
const LIFETIME = 300_000
/** Most characters buffered for a slow reader. Further events are dropped and counted. */
const MOST_WAITING = 1024 * 1024

const BEGINNING = fields({
  ...{ id: v.string(), at: instant, door: v.string(), format: v.string(), stream: v.boolean(), captured: v.boolean() },
  ...{ key: v.optional(v.string()), key_name: v.optional(v.string()), group: v.optional(v.string()) },
  model: v.optional(v.string()),
})

/** The endpoint that streams requests as server-sent events while they happen. */
export const LIVE = [
  endpoint({
    method: 'get',
    path: '/requests/live',
    operation: 'watchRequests',
    summary:
      'Streams requests as server-sent events: `begun` with what is known at the start, `over` with the finished row, `missed` with the number of events that a slow reader missed.',
    answer: v.union([BEGINNING, REQUEST, fields({ count: v.number() })]),
    problems: ['too-many-requests'],
    live: ['text/event-stream'],
    handle: (gateway, _, principal) => async exchange => watch(gateway, exchange, principal),
  }),
]

function watch(gateway: Administration, { message, reply }: LiveExchange, { kind, name }: Principal): void {
  const { live } = gateway
  const owner = `${kind} ${name}`
  if (live.size >= MOST_LISTENERS || live.sizeOf(owner) >= MOST_OF_ONE)
    throw new Problem('too-many-requests', 'Too many clients are already watching requests.')
  const watcher = new Watcher(reply, owner)
  const stop = live.listen(watcher)
  watcher.open(stop, () => authenticate(gateway, message))
  // Set last, because the setter aborts at once if the reader has already disconnected.
  reply.abortable = { abort: () => watcher.close() }
}

/** Streams events to one reader. */
class Watcher implements LiveListener {
  readonly owner: string
  private readonly reply: Reply
  private beat: NodeJS.Timeout | undefined
  private lifetime: NodeJS.Timeout | undefined
  private stop = (): void => {}
  private waiting = ''
  private isBehind = false
  private missed = 0

  constructor(reply: Reply, owner: string) {
    this.reply = reply
    this.owner = owner
  }

  /**
   * Starts the stream.
   *
   * @param stop called when the stream ends.
   * @param authenticate rejects when the reader is no longer signed in.
   */
  open(stop: () => void, authenticate: () => Promise<unknown>): void {
    this.stop = stop
    this.reply.begin({ 'content-type': 'text/event-stream; charset=utf-8', ...HEADERS })
    this.write(': watching\n\n')
    const beat = () =>
      authenticate().then(
        () => this.write(': ping\n\n'),
        () => this.end(),
      )
    this.beat = setInterval(beat, BEAT).unref()
    this.lifetime = setTimeout(() => this.end(), LIFETIME).unref()
  }

  take(event: LiveEvent): void {
    const shown = event.type === 'begun' ? beginningView(event.request) : requestView(event.request, false)
    this.write(`event: ${event.type}\ndata: ${JSON.stringify(shown)}\n\n`)
  }

  end(): void {
    this.close()
    if (!this.reply.gone) this.reply.end('')
  }

  /** Releases all resources; called when the stream ends or the reader disconnects. */
  close(): void {
    this.stop()
    clearInterval(this.beat)
    clearTimeout(this.lifetime)
  }

  private write(text: string): void {
    if (this.reply.gone) return
    if (this.waiting.length > MOST_WAITING) {
      this.missed++
      return
    }
    this.waiting += text
    if (!this.isBehind) this.flush()
  }

  private flush(): void {
    const text = this.waiting
    this.waiting = ''
    if (this.reply.write(text)) return
    this.isBehind = true
    this.reply.once('drain', () => {
      this.isBehind = false
      if (this.missed > 0) this.waiting += `event: missed\ndata: ${JSON.stringify({ count: this.missed })}\n\n`
      this.missed = 0
      if (this.waiting !== '' && !this.reply.gone) this.flush()
    })
  }
}

const HEADERS = { 'cache-control': 'no-store', 'x-accel-buffering': 'no', 'x-content-type-options': 'nosniff' }

const beginningView = ({ at, keyName, door, format, stream, isCaptured, id, ...rest }: LiveBeginning) => ({
  ...{ id, at: instantOf(at), door, format, stream, captured: isCaptured },
  ...defined({ key: rest.key, key_name: keyName, group: rest.group, model: rest.model }),
})
