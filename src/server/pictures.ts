import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { GatewayError } from '../canonical/error.ts'
import type { Gateway } from '../gateway.ts'

/** Whoever holds the address may have the picture: no key is asked for, as none can be sent by an `<img>`. */
export function sendPicture(gateway: Gateway, token: string, message: IncomingMessage, response: ServerResponse): void {
  const picture = gateway.picture(token)
  if (picture === undefined)
    throw new GatewayError({ kind: 'not-found', message: 'There is no such picture, or its time is over.' })
  const { mediaType, bytes, seconds } = picture
  response.writeHead(200, {
    'content-type': /^image\/[\w.+-]+$/.test(mediaType) ? mediaType : 'application/octet-stream',
    ...(bytes.size === undefined ? {} : { 'content-length': String(bytes.size) }),
    'cache-control': `private, max-age=${seconds}`,
    // A drawing may hold scripts, which must not run in the gateway's name.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'x-content-type-options': 'nosniff',
  })
  if (message.method === 'HEAD') response.end()
  else pipeline(Readable.from(bytes.read()), response).catch(() => response.destroy())
}
