import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
import type { Gateway } from '../gateway/index.ts'
import { HttpReply } from './reply.ts'

/** Whoever holds the address may have the picture: no key is asked for, as none can be sent by an `<img>`. */
export function sendImage(gateway: Gateway, token: string, message: IncomingMessage, response: ServerResponse): void {
  const picture = gateway.picture(token)
  if (picture === undefined)
    throw new GatewayError({ kind: 'not-found', message: 'There is no such picture, or its time is over.' })
  const { mediaType, bytes, seconds } = picture
  const headers = {
    'content-type': /^image\/[\w.+-]+$/.test(mediaType) ? mediaType : 'application/octet-stream',
    'cache-control': `private, max-age=${seconds}`,
    // A drawing may hold scripts, which must not run in the gateway's name.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'x-content-type-options': 'nosniff',
  }
  if (message.method === 'HEAD') response.writeHead(200, { ...headers, 'content-length': String(bytes.size) }).end()
  else {
    const reply = new HttpReply(message, response, {}, gateway)
    gateway.pass(reply, headers, { mediaType, bytes }).catch(() => response.destroy())
  }
}
