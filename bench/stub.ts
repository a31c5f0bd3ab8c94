import { createServer, type Socket } from 'node:net'
import { type BenchFormat, UPSTREAMS } from './formats.ts'

/*
 * The upstream. Its answers are prepared in advance so that they cost as little as possible. The end of a path selects
 * the format and the beginning selects the kind of answer, as in `/burst-500/v1/chat/completions`.
 */

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: '
const JSON_HEAD = `${HEAD}application/json\r\n`
const STREAM_HEAD = `${HEAD}text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n`
const LAST = '0\r\n\r\n'
/** Number of events in the longest stream. */
const FLOOD = 200_000

const textOf = ([event, data]: readonly [string | undefined, object | string]): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

/** Puts every event into its own chunk, as real upstreams do. */
const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

type Answer = (socket: Socket) => void

const whole = ({ whole }: BenchFormat): Answer => {
  const text = JSON.stringify(whole)
  const answer = Buffer.from(`${JSON_HEAD}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  return socket => socket.write(answer)
}

/** Sends everything in one write. */
const atOnce = ({ events }: BenchFormat, count: number): Answer => {
  const answer = Buffer.from(STREAM_HEAD + events(count).map(textOf).map(chunked).join('') + LAST)
  return socket => socket.write(answer)
}

/** Sends events as fast as possible but each in its own write, like a model that generates one token after another. */
const burst = ({ events }: BenchFormat, count: number): Answer => {
  const chunks = [...events(count).map(textOf).map(chunked), LAST].map(text => Buffer.from(text))
  return socket => {
    let next = 0
    socket.write(STREAM_HEAD)
    const writeNext = (): void => {
      socket.write(chunks[next++]!)
      if (next < chunks.length) setImmediate(writeNext)
    }
    writeNext()
  }
}

/** Sends one event at a time until the reader leaves or all events are sent. */
const paced = ({ events }: BenchFormat, count: number, interval: number): Answer => {
  const chunks = events(count).map(event => Buffer.from(chunked(textOf(event))))
  return socket => {
    let next = 0
    socket.write(STREAM_HEAD)
    const timer = setInterval(() => {
      const chunk = chunks[next++]
      socket.write(chunk ?? LAST)
      if (chunk === undefined) stop()
    }, interval)
    const stop = (): void => {
      clearInterval(timer)
      socket.off('close', stop)
    }
    socket.once('close', stop)
  }
}

/** Sends as much as the reader reads. */
const flood = ({ events }: BenchFormat): Answer => {
  const [start, ...others] = events(1000).map(event => chunked(textOf(event)))
  const block = Buffer.from(others.slice(0, 900).join(''))
  return socket => {
    let left = FLOOD / 900
    const pour = (): void => {
      while (left-- > 0) if (!socket.write(block)) return void socket.once('drain', pour)
      socket.write(others.slice(900).join('') + LAST)
    }
    socket.write(STREAM_HEAD + start)
    pour()
  }
}

const MODES: { readonly [mode: string]: (format: BenchFormat) => Answer } = {
  whole,
  one: format => atOnce(format, 1),
  few: format => atOnce(format, 10),
  'burst-100': format => burst(format, 100),
  'burst-500': format => burst(format, 500),
  'once-500': format => atOnce(format, 500),
  'paced-50': format => paced(format, 3000, 20),
  'paced-2s': format => paced(format, 100, 20),
  open: format => paced(format, 600, 1000),
  flood,
}

const ENDS: readonly (readonly [RegExp, BenchFormat])[] = [
  [/\/chat\/completions$/, UPSTREAMS.chat],
  [/\/messages$/, UPSTREAMS.messages],
  [/GenerateContent$/i, UPSTREAMS.contents],
  [/\/embeddings$/, UPSTREAMS.embeddings],
  [/\/images\/edits$/, UPSTREAMS.images],
  [/\/audio\/transcriptions$/, UPSTREAMS.transcriptions],
]

const known = new Map<string, Answer>()

const NOT_FOUND = Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
const notFound: Answer = socket => socket.write(NOT_FOUND)

function answerFor(path: string): Answer {
  let answer = known.get(path)
  if (answer === undefined) {
    const [below = ''] = path.split('?')
    const format = ENDS.find(([end]) => end.test(below))?.[1]
    known.set(path, (answer = format === undefined ? notFound : MODES[path.split('/')[1]!]!(format)))
  }
  return answer
}

/**
 * Reads the requests of a connection. Each has a head and a body that ends at its announced length or at the last
 * chunk. The answer follows.
 */
function serve(socket: Socket): void {
  let head = ''
  let path = ''
  let left = 0
  let tail = ''
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes: Buffer) => {
    if (left === 0) {
      head += bytes.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/'))
      const chunked = /transfer-encoding: chunked/i.test(head)
      left = chunked ? Number.POSITIVE_INFINITY : announced(head) - (head.length - end - 4)
      head = ''
    } else left -= bytes.length
    if (left === Number.POSITIVE_INFINITY) {
      tail = (tail + bytes.toString('latin1', Math.max(0, bytes.length - LAST.length))).slice(-LAST.length)
      if (tail === LAST) left = 0
    }
    if (left === 0) answerFor(path)(socket)
  })
}

const announced = (head: string): number => Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)

createServer(serve).listen(Number(process.argv[2]), '127.0.0.1')
