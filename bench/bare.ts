import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type Dispatcher, Pool } from 'undici'
import { type RawData, WebSocket, WebSocketServer } from 'ws'

/*
 * The baseline of the bench: a proxy built on the same libraries that parses nothing, checks no keys and writes no log.
 */

const [port, upstream, sessions] = process.argv.slice(2)
const pool = new Pool(upstream!, { connections: null, pipelining: 1 })

function relay(message: IncomingMessage, response: ServerResponse, body: Buffer): void {
  let controller: Dispatcher.DispatchController | undefined
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: given => void (controller = given),
    onResponseStart: (_, status, headers) => {
      const { connection: _connection, 'transfer-encoding': _encoding, 'keep-alive': _alive, ...others } = headers
      response.writeHead(status, others)
    },
    onResponseData: (given, chunk) => {
      if (response.write(chunk)) return
      given.pause()
      response.once('drain', () => given.resume())
    },
    onResponseEnd: () => void response.end(),
    onResponseError: () => void response.destroy(),
  }
  response.on('close', () => {
    if (!response.writableFinished) controller?.abort(new Error('gone'))
  })
  const { host: _host, connection: _connection, 'content-length': _length, ...headers } = message.headers
  pool.dispatch({ method: 'POST', path: message.url!, headers: headers as Record<string, string>, body }, handler)
}

const server = createServer((message, response) => {
  const chunks: Buffer[] = []
  message.on('data', (chunk: Buffer) => chunks.push(chunk))
  message.on('end', () => relay(message, response, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
})

const sockets = new WebSocketServer({ server, perMessageDeflate: false })
sockets.on('connection', (caller, message) => {
  const outer = new WebSocket(`${sessions!.replace('http', 'ws')}${message.url}`, { perMessageDeflate: false })
  const early: RawData[] = []
  outer.on('message', (data, binary) => caller.send(data, { binary }))
  caller.on('message', (data, binary) => {
    if (outer.readyState === outer.OPEN) outer.send(data, { binary })
    else early.push(data)
  })
  outer.on('open', () => {
    for (const data of early) outer.send(data, { binary: false })
  })
  for (const [one, other] of [
    [caller, outer],
    [outer, caller],
  ] as const) {
    one.on('close', () => other.terminate())
    one.on('error', () => one.terminate())
  }
})

server.listen(Number(port), '127.0.0.1')
