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

/** Maximum number of open streams per process. */
const MAX_LISTENERS = 50
/** Maximum number of open streams per user or token, so that nobody can use up the total. */
const MAX_PER_OWNER = 10
/** Interval between heartbeats, in milliseconds. */
const HEARTBEAT_MS = 15_000
/** Maximum duration of a stream, after which clients reconnect, in milliseconds. */
const MAX_DURATION_MS = 300_000
/** Maximum number of characters buffered for a slow reader. Further events are dropped and counted. */
const MAX_BUFFERED_CHARACTERS = 1024 * 1024

const REQUEST_START = fields({
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
    answer: v.union([REQUEST_START, REQUEST, fields({ count: v.number() })]),
    problems: ['too-many-requests'],
    live: ['text/event-stream'],
    handle: (gateway, _, principal) => async exchange => watch(gateway, exchange, principal),
  }),
]

function watch(gateway: Administration, { message, reply }: LiveExchange, { kind, name }: Principal): void {
  const { live } = gateway
  const owner = `${kind} ${name}`
  if (live.size >= MAX_LISTENERS || live.sizeOf(owner) >= MAX_PER_OWNER)
    throw new Problem('too-many-requests', 'Too many clients are already watching requests.')
  const watcher = new Watcher(reply, owner)
  const stop = live.listen(watcher)
  watcher.open(stop, () => authenticate(gateway, message, false))
  // Set last, because the setter aborts at once if the reader has already disconnected.
  reply.abortable = { abort: () => watcher.close() }
}

/** Streams events to one reader. */
class Watcher implements LiveListener {
  readonly owner: string
  private readonly reply: Reply
  private heartbeat: NodeJS.Timeout | undefined
  private lifetime: NodeJS.Timeout | undefined
  private stop = (): void => {}
  private buffer = ''
  private isPaused = false
  private droppedEvents = 0

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
    this.reply.begin({ 'content-type': 'text/event-stream; charset=utf-8', ...STREAM_HEADERS })
    this.write(': watching\n\n')
    const heartbeat = () =>
      authenticate().then(
        () => this.write(': ping\n\n'),
        () => this.end(),
      )
    this.heartbeat = setInterval(heartbeat, HEARTBEAT_MS).unref()
    this.lifetime = setTimeout(() => this.end(), MAX_DURATION_MS).unref()
  }

  take(event: LiveEvent): void {
    const view = event.type === 'begun' ? requestStartView(event.request) : requestView(event.request, false)
    this.write(`event: ${event.type}\ndata: ${JSON.stringify(view)}\n\n`)
  }

  end(): void {
    this.close()
    if (!this.reply.gone) this.reply.end('')
  }

  /** Releases all resources. Called when the stream ends or the reader disconnects. */
  close(): void {
    this.stop()
    clearInterval(this.heartbeat)
    clearTimeout(this.lifetime)
  }

  private write(text: string): void {
    if (this.reply.gone) return
    if (this.buffer.length > MAX_BUFFERED_CHARACTERS) {
      this.droppedEvents++
      return
    }
    this.buffer += text
    if (!this.isPaused) this.flush()
  }

  private flush(): void {
    const text = this.buffer
    this.buffer = ''
    if (this.reply.write(text)) return
    this.isPaused = true
    this.reply.once('drain', () => {
      this.isPaused = false
      if (this.droppedEvents > 0)
        this.buffer += `event: missed\ndata: ${JSON.stringify({ count: this.droppedEvents })}\n\n`
      this.droppedEvents = 0
      if (this.buffer !== '' && !this.reply.gone) this.flush()
    })
  }
}

const STREAM_HEADERS = { 'cache-control': 'no-store', 'x-accel-buffering': 'no', 'x-content-type-options': 'nosniff' }

const requestStartView = ({ at, keyName, door, format, stream, isCaptured, id, ...rest }: LiveBeginning) => ({
  ...{ id, at: instantOf(at), door, format, stream, captured: isCaptured },
  ...defined({ key: rest.key, key_name: keyName, group: rest.group, model: rest.model }),
})
