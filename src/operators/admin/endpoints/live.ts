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

/** Streams that one process has open at once. */
const MOST_LISTENERS = 50
/** Those of one user or token: nobody takes all of them. */
const MOST_OF_ONE = 10
/** Milliseconds of silence before a sign of life, and after which a stream ends: clients open another one then. */
const BEAT = 15_000
const LIFETIME = 300_000
/** Characters that wait for a reader that is behind; events beyond that are left out, and how many is said. */
const MOST_WAITING = 1024 * 1024

const BEGINNING = fields({
  ...{ id: v.string(), at: instant, door: v.string(), format: v.string(), stream: v.boolean(), captured: v.boolean() },
  ...{ key: v.optional(v.string()), key_name: v.optional(v.string()), group: v.optional(v.string()) },
  model: v.optional(v.string()),
})

export const LIVE = [
  endpoint({
    method: 'get',
    path: '/requests/live',
    operation: 'watchRequests',
    summary:
      'Server-sent events of requests: `begun` with what is known then, `over` with the row, `missed` with how many a slow reader missed.',
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
    throw new Problem('too-many-requests', 'Too many watch requests already.')
  const watcher = new Watcher(reply, owner)
  const stop = live.listen(watcher)
  watcher.open(stop, () => authenticate(gateway, message))
  // Last, as it closes at once for a reader who left already.
  reply.abortable = { abort: () => watcher.close() }
}

/** Writes events to one reader. */
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
   * @param stop called once it is over.
   * @param authenticate rejects once whoever watches is not signed in any more.
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

  /** The reader left, or the last was written. */
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
