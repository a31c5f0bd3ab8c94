import { createServer, type ServerResponse } from 'node:http'
import { UPSTREAMS } from '../formats.ts'
import { CALLS, CHUNKS, type SoakedFormat } from './calls.ts'

/*
 * The upstream of the soak. The first segment of a path selects what it does: `text` and `tools` answer whole streams,
 * `cut` breaks off in the middle, `failing` fails in another way each time before it answers.
 * `soak/upstream.ts PORT MILLISECONDS` has one event in every so many milliseconds.
 */

const ENDS: readonly (readonly [RegExp, SoakedFormat])[] = [
  [/\/chat\/completions$/, 'chat'],
  [/\/messages$/, 'messages'],
  [/GenerateContent(\?|$)/i, 'contents'],
]

type Written = readonly string[]

const written = (events: readonly (readonly [event: string | undefined, data: object | string])[]): Written =>
  events.map(
    ([event, data]) =>
      `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
  )

const TEXTS = mapOf(format => written(UPSTREAMS[format].events(CHUNKS)))
const TOOLS = mapOf(format => written(CALLS[format].events))

function mapOf(events: (format: SoakedFormat) => Written): { readonly [F in SoakedFormat]: Written } {
  return { chat: events('chat'), messages: events('messages'), contents: events('contents') }
}

type Answer = (response: ServerResponse, format: SoakedFormat) => void

/** Sends one event at a time, and then `end`, unless the reader leaves. */
function pace(response: ServerResponse, events: Written, end: (response: ServerResponse) => void): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let next = 0
  const timer = setInterval(() => {
    if (next < events.length) return void response.write(events[next++]!)
    clearInterval(timer)
    end(response)
  }, pause)
  response.once('close', () => clearInterval(timer))
}

const ended = (response: ServerResponse): void => void response.end()
const broken = (response: ServerResponse): void => void response.destroy()

const refused =
  (status: number, type: string): Answer =>
  response => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { type, code: type, message: 'The soak wants this request to fail.' } }))
  }

const FAILURES: readonly Answer[] = [
  refused(500, 'server_error'),
  broken,
  refused(503, 'overloaded_error'),
  response => void setTimeout(() => broken(response), 500),
  response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    broken(response)
  },
  refused(529, 'overloaded_error'),
]
let failed = 0

const MODES: { readonly [mode: string]: Answer } = {
  text: (response, format) => pace(response, TEXTS[format], ended),
  tools: (response, format) => pace(response, TOOLS[format], ended),
  cut: (response, format) => pace(response, TEXTS[format].slice(0, CHUNKS / 2), broken),
  failing: (response, format) => FAILURES[failed++ % FAILURES.length]!(response, format),
}

const pause = Number(process.argv[3])

createServer((message, response) => {
  message.resume().once('end', () => {
    const format = ENDS.find(([end]) => end.test(message.url!))?.[1]
    const mode = MODES[message.url!.split('/')[1]!]
    if (format === undefined || mode === undefined) return void response.writeHead(404).end()
    mode(response, format)
  })
}).listen(Number(process.argv[2]), '127.0.0.1')
