import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import type { ChannelConfig } from '../../src/config/index.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { type ChannelFields, channelAt, LOOPBACK } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { TASKS } from './stage.ts'

/* Networks that fail while a video is submitted. A second channel would accept it. */

const closing = closingAfterEach()

const models = { named: new Map([['film', 'sora-2']]), patterns: [] }

async function listening(server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => new Promise(resolve => server.close(resolve)))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that does this with each connection. */
const rawServer = (act: (socket: Socket) => void): Promise<string> =>
  listening(
    createServer(socket => {
      socket.on('error', () => {})
      closing.push(() => socket.destroy())
      act(socket)
    }),
  )

/** Submits a video at two channels: a first one that is reached in this way, and a second one that works. */
async function submit(address: string, fields: ChannelFields = {}) {
  let accepted = 0
  const working = await listening(
    createHttpServer((message, response) => {
      message.resume()
      message.on('end', () => {
        accepted++
        response.end(JSON.stringify({ id: 'video_at_second', object: 'video', status: 'queued', progress: 0 }))
      })
    }),
  )
  const shared = { format: 'videos', models, timeout: { connect: 500, firstByte: 1000, idle: 1000 } } as const
  const channels: ChannelConfig[] = [
    channelAt(address, { ...shared, name: 'first', priority: 0, ...fields }),
    channelAt(`http://${working}`, { ...shared, name: 'second', priority: 1 }),
  ]
  const keep = mkdtempSync(join(tmpdir(), 'interlingua-video-'))
  closing.push(() => rmSync(keep, { recursive: true, force: true }))
  const testServer = await TestServer.open(channels, { keep, config: { tasks: TASKS } })
  closing.push(() => testServer.server.close(0))
  const { status } = await testServer.ask('/v1/videos', { model: 'film', prompt: 'A cat', seconds: '4' })
  return { status, accepted }
}

const onFirstByte = (act: (socket: Socket) => void) => (socket: Socket) => void socket.once('data', () => act(socket))

describe('a video that was never sent goes to the next channel', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['answers without TLS', onFirstByte(socket => socket.end('HTTP/1.1 400 Bad\r\n\r\n'))],
    ['refuses the handshake', onFirstByte(socket => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, 40])))],
    ['ends the handshake', onFirstByte(socket => socket.end())],
    ['resets the handshake', onFirstByte(socket => socket.resetAndDestroy())],
    ['never answers the handshake', () => {}],
  ])('if the server %s', async (_, act) => {
    expect(await submit(`https://${await rawServer(act)}`)).toEqual({ status: 200, accepted: 1 })
  })

  it('if the proxy does not connect', async () => {
    const proxy = await rawServer(onFirstByte(socket => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')))
    const sent = await submit('https://videos.invalid', {
      proxy: { http: '', https: `http://${proxy}`, except: '' },
    })
    expect(sent).toEqual({ status: 200, accepted: 1 })
  })

  it('if the host is unknown', async () => {
    expect(await submit('http://videos.invalid')).toEqual({ status: 200, accepted: 1 })
  })
})

describe('a video that may have arrived is never submitted again', () => {
  it.each<[string, (socket: Socket) => void, number]>([
    ['closes the connection', onFirstByte(socket => socket.end()), 502],
    ['resets the connection', onFirstByte(socket => socket.resetAndDestroy()), 502],
    ['stops in the head of its answer', onFirstByte(socket => socket.end('HTTP/1.1 200 OK\r\ncontent-')), 502],
    ['answers something else', onFirstByte(socket => socket.end('hello\r\n\r\n')), 502],
    ['redirects', onFirstByte(socket => socket.end('HTTP/1.1 307 T\r\nlocation: /\r\ncontent-length: 0\r\n\r\n')), 502],
    ['never answers', () => {}, 504],
  ])('if the server %s', async (_, act, status) => {
    expect(await submit(`http://${await rawServer(act)}`)).toEqual({ status, accepted: 0 })
  })
})

test.each([206, 416])('a part of a file that nobody requested, with status %d, is no video', async partial => {
  const done = { id: 'video_at_upstream', object: 'video', status: 'completed', progress: 100 }
  const upstream = await listening(
    createHttpServer((message, response) => {
      message.resume()
      message.on('end', () => {
        if (!message.url!.endsWith('/content')) return response.end(JSON.stringify(done))
        const headers = { 'content-type': 'video/mp4', 'content-range': 'bytes 0-3/9' }
        return response.writeHead(message.headers.range === undefined ? partial : 206, headers).end('abcd')
      })
    }),
  )
  const keep = mkdtempSync(join(tmpdir(), 'interlingua-video-'))
  closing.push(() => rmSync(keep, { recursive: true, force: true }))
  const channels = [channelAt(`http://${upstream}`, { format: 'videos', models })]
  const testServer = await TestServer.open(channels, { keep, allow: LOOPBACK, config: { tasks: TASKS } })
  closing.push(() => testServer.server.close(0))
  const { json } = await testServer.ask('/v1/videos', { model: 'film', prompt: 'A cat', seconds: '4' })
  const path = `/v1/videos/${json.id}/content`
  expect((await testServer.ask(path, undefined, { method: 'GET' })).status).toBe(502)
  const headers = { range: 'bytes=0-3' }
  expect((await testServer.ask(path, undefined, { method: 'GET', headers })).status).toBe(206)
})
