import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
import type { Gateway } from '../gateway/index.ts'
import { relay } from '../gateway/relay.ts'
import { HttpReply } from './reply.ts'

/**
 * Sends a stored image to any client that knows its URL. No key is required, because `<img>` elements cannot send one.
 *
 * @throws GatewayError `not-found`, or GatewayFailure if the lookup fails. Nothing has been sent at that point.
 */
export async function sendImage(
  gateway: Gateway,
  token: string,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const image = await gateway.services.images.store.get(token)
  if (image === undefined)
    throw new GatewayError({ kind: 'not-found', message: 'There is no such image, or it has expired.' })
  const { mediaType, bytes, seconds } = image
  const headers = {
    'content-type': /^image\/[\w.+-]+$/.test(mediaType) ? mediaType : 'application/octet-stream',
    'cache-control': `private, max-age=${seconds}`,
    // An SVG image may contain scripts. They must not run in the gateway's origin.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'x-content-type-options': 'nosniff',
  }
  if (message.method === 'HEAD') response.writeHead(200, { ...headers, 'content-length': String(bytes.size) }).end()
  else {
    const reply = new HttpReply(message, response, {}, gateway.services)
    relay(reply, headers, { mediaType, bytes }, gateway.services.config.server.heartbeat).catch(() =>
      response.destroy(),
    )
  }
}
