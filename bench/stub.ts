import { createServer, type Socket } from 'node:net'
import { type SpokenFormat, UPSTREAMS } from './formats.ts'

/*
 * The upstream: it knows by heart what it says and costs as little as possible. It tells formats apart by how a path
 * ends, and how to answer by how the path begins: `/burst-500/v1/chat/completions`.
 */

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: '
const JSON_HEAD = `${HEAD}application/json\r\n`
const STREAM_HEAD = `${HEAD}text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n`
const LAST = '0\r\n\r\n'
/** The longest stream an upstream here tells. */
const FLOOD = 200_000

const textOf = ([event, data]: readonly [string | undefined, object | string]): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

/** Every event in a chunk of its own, as real upstreams send them. */
const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

type Say = (socket: Socket) => void

const whole = ({ whole }: SpokenFormat): Say => {
  const text = JSON.stringify(whole)
  const answer = Buffer.from(`${JSON_HEAD}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  return socket => socket.write(answer)
}

/** Everything in one write. */
const atOnce = ({ events }: SpokenFormat, pieces: number): Say => {
  const answer = Buffer.from(STREAM_HEAD + events(pieces).map(textOf).map(chunked).join('') + LAST)
  return socket => socket.write(answer)
}

/** As fast as it can, but every event in a write of its own, as a model that makes one token after the other. */
const burst = ({ events }: SpokenFormat, pieces: number): Say => {
  const chunks = [...events(pieces).map(textOf).map(chunked), LAST].map(text => Buffer.from(text))
  return socket => {
    let next = 0
    socket.write(STREAM_HEAD)
    const tell = (): void => {
      socket.write(chunks[next++]!)
      if (next < chunks.length) setImmediate(tell)
    }
    tell()
  }
}

/** One event at a time; the stream lasts until its reader leaves or it is told to the end. */
const paced = ({ events }: SpokenFormat, pieces: number, interval: number): Say => {
  const chunks = events(pieces).map(event => Buffer.from(chunked(textOf(event))))
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

/** As much as the reader takes. */
const flood = ({ events }: SpokenFormat): Say => {
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

const MODES: { readonly [mode: string]: (format: SpokenFormat) => Say } = {
  whole,
  few: format => atOnce(format, 10),
  'burst-100': format => burst(format, 100),
  'burst-500': format => burst(format, 500),
  'once-500': format => atOnce(format, 500),
  'paced-50': format => paced(format, 3000, 20),
  'paced-2s': format => paced(format, 100, 20),
  open: format => paced(format, 600, 1000),
  flood,
}

const ENDS: readonly (readonly [RegExp, SpokenFormat])[] = [
  [/\/chat\/completions$/, UPSTREAMS.chat],
  [/\/messages$/, UPSTREAMS.messages],
  [/GenerateContent(\?.*)?$/i, UPSTREAMS.contents],
  [/\/embeddings$/, UPSTREAMS.embeddings],
  [/\/images\/edits$/, UPSTREAMS.images],
  [/\/audio\/transcriptions$/, UPSTREAMS.transcriptions],
]

const known = new Map<string, Say>()

function sayFor(path: string): Say {
  let say = known.get(path)
  if (say === undefined) {
    const format = ENDS.find(([end]) => end.test(path))![1]
    known.set(path, (say = MODES[path.split('/')[1]!]!(format)))
  }
  return say
}

/** Takes requests off a connection: a head, as many bytes as it announces or up to the last chunk, an answer. */
function converse(socket: Socket): void {
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
    if (left === 0) sayFor(path)(socket)
  })
}

const announced = (head: string): number => Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)

createServer(converse).listen(Number(process.argv[2]), '127.0.0.1')
