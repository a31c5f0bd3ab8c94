import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { GatewayError } from '../../../src/canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../../src/canonical/node.ts'
import { drain } from '../../../src/canonical/transducer.ts'
import { readJson } from '../../../src/ingress/transport/body.ts'
import { eventParser } from '../../../src/ingress/transport/event-parser.ts'
import { readForm } from '../../../src/ingress/transport/form.ts'
import { openFrameParser } from '../../../src/ingress/transport/frames.ts'
import { streamsIn } from '../../builders/fixtures.ts'
import { frameBytes } from '../../builders/frames.ts'
import { expectSame, type Target, type Watch } from '../target.ts'
import { asInput, cut, eventOf } from './streams.ts'

/* Bytes on the wire. A string stands for bytes: one character for each. */

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')
const LIMIT = 1_000_000

const SSE: Target = {
  name: 'transport:sse',
  inputs: 'bytes of streams of server-sent events',
  files: /^src\/ingress\/transport\/(sse|event-parser)/,
  seeds: () =>
    ['chat', 'messages', 'contents', 'responses'].flatMap(format =>
      streamsIn(format)
        .slice(0, 4)
        .map(events =>
          events.map(({ event, data }) => `${event ? `event: ${event}\n` : ''}data: ${data}\n\n`).join(''),
        ),
    ),
  run: (input, watch) => {
    if (typeof input !== 'string') return
    const bytes = bytesOf(input)
    const events = drain(eventParser(LIMIT), [bytes])
    watch.returned(events)
    const parser = eventParser(LIMIT)
    watch.unmeasured(() => expectSame('cut bytes', drain(parser, cut(bytes, watch.dice)), events))
    watch.retained(parser)
  },
}

const FRAME_BYTES: Target = {
  name: 'transport:frames',
  inputs: 'bytes of event streams of AWS',
  files: /^src\/ingress\/transport\/frames/,
  seeds: () =>
    streamsIn('converse').map(events => Buffer.concat(events.map(one => frameBytes(one))).toString('latin1')),
  run: (input, watch) => (typeof input === 'string' ? readFrames(bytesOf(input), watch) : undefined),
}

const WHOLE_FRAMES: Target = {
  name: 'transport:frame-events',
  inputs: 'events of event streams of AWS, in frames that are whole',
  files: /^src\/ingress\/transport\/frames/,
  seeds: () => [
    ...streamsIn('converse').map(asInput),
    [{ headers: { ':message-type': 'error', ':error-code': 'A', ':error-message': 'b' }, data: '' }],
    [{ event: 'chunk', data: { bytes: Buffer.from('{"type":"ping"}').toString('base64') } }],
    [{ event: 'throttlingException', data: { message: 'Too many.' } }],
  ],
  run: (input, watch) => {
    const items = Array.isArray(input) ? (input as readonly Json[]) : []
    return readFrames(Buffer.concat(items.map(frameOf)), watch)
  },
}

/** Encodes an item of an input. Names and values of headers are at most as long as frames allow. */
function frameOf(item: Json): Buffer {
  const { headers } = isObject(item) ? item : ({} as JsonObject)
  const given = Object.entries(isObject(headers) ? headers : {}).flatMap(([name, value]) =>
    typeof value === 'string' && Buffer.byteLength(name) < 256 && Buffer.byteLength(value) < 2 ** 15
      ? [[name, value]]
      : [],
  )
  const { event = '', data } = eventOf(item)
  return frameBytes(
    { event: event.slice(0, 2 ** 10), data },
    given.length === 0 ? undefined : Object.fromEntries(given),
  )
}

async function readFrames(bytes: Buffer, watch: Watch): Promise<void> {
  const parser = await openFrameParser(LIMIT)
  const events = drain(parser, [bytes])
  watch.returned(events)
  watch.retained(parser)
  const again = await openFrameParser(LIMIT)
  watch.unmeasured(() => expectSame('cut bytes', drain(again, cut(bytes, watch.dice)), events))
}

/** A request's body as the server hands it over: a stream with headers. */
function messageOf(body: Buffer, headers: { readonly [name: string]: string }, watch: Watch): IncomingMessage {
  const stream = new PassThrough()
  const message = Object.assign(stream, { headers, complete: false, socket: { destroyed: false } })
  const pieces = [...cut(body, watch.dice)]
  setImmediate(() => {
    for (const piece of pieces) stream.write(piece)
    message.complete = true
    stream.end()
  })
  return message as unknown as IncomingMessage
}

async function refusable<T>(reading: Promise<T>, watch: Watch): Promise<T | undefined> {
  try {
    return await reading
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.error.kind === 'internal') throw thrown
    watch.said(thrown.message)
    return undefined
  }
}

const BOUNDARY = 'form-boundary'
const part = (disposition: string, value: string, type = ''): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n${type === '' ? '' : `Content-Type: ${type}\r\n`}\r\n${value}\r\n`

const FORM: Target = {
  name: 'transport:form',
  inputs: 'forms (multipart/form-data): the header `type`, and the bytes',
  files: /^src\/ingress\/transport\/(form|spool)/,
  seeds: () =>
    [
      part('name="model"', 'm') + part('name="file"; filename="a.wav"', 'RIFF\0\0', 'audio/wav'),
      part('name="image[]"; filename="ü.png"', '\x89PNG', 'image/png') + part('name="a"', 'b') + part('name="a"', 'c'),
      part(`name="file"; filename*=UTF-8''a%20b.mp3`, 'x'.repeat(3000), 'audio/mpeg; charset=utf-8'),
      part('name=""', '') + part('name', 'a') + part('filename="b"', 'c'),
    ].map(parts => ({ type: `multipart/form-data; boundary=${BOUNDARY}`, bytes: `${parts}--${BOUNDARY}--\r\n` })),
  run: async (input, watch) => {
    const { type, bytes } = isObject(input) ? input : ({} as JsonObject)
    if (typeof type !== 'string' || typeof bytes !== 'string') return
    const message = messageOf(bytesOf(bytes), { 'content-type': type }, watch)
    const form = await refusable(
      readForm(message, LIMIT, () => false),
      watch,
    )
    if (form === undefined) return
    watch.returned(form.body)
    for (const { bytes: content } of form.files) for await (const chunk of content.read()) watch.returned(chunk)
    form.drop()
  },
}

const BODY: Target = {
  name: 'transport:body',
  inputs: 'bodies of requests: headers and bytes',
  files: /^src\/ingress\/transport\/body/,
  seeds: () => [
    { headers: {}, bytes: '{"model":"m"}' },
    { headers: { 'content-type': 'application/json; charset=utf-8' }, bytes: '\xef\xbb\xbf{"a":"\xc3\xbc"}' },
    { headers: { 'content-encoding': 'gzip' }, bytes: gzipSync('{"model":"m"}').toString('latin1') },
    { headers: { 'content-encoding': 'br', 'content-length': '12' }, bytes: '{"model":"m"' },
    { headers: { 'content-encoding': 'deflate' }, bytes: 'x\x9c\xabVJ\xceOIU\xb2RP*-N-R\xaa\x05\x00' },
  ],
  run: async (input, watch) => {
    const { headers, bytes } = isObject(input) ? input : ({} as JsonObject)
    if (typeof bytes !== 'string') return
    const texts = Object.entries(isObject(headers) ? headers : {}).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name.toLowerCase(), value] as const] : [],
    )
    await refusable(readJson(messageOf(bytesOf(bytes), Object.fromEntries(texts), watch), LIMIT), watch)
  },
}

export const TRANSPORT: readonly Target[] = [SSE, FRAME_BYTES, WHOLE_FRAMES, FORM, BODY]
