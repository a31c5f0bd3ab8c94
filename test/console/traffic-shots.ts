import { ASKED, capturing } from './captured.ts'
import type { ConsoleGateway } from './gateway.ts'

/** Captured requests for screenshots: one with losses, one in the native format, one that failed. */
export async function captureSome(
  gateway: ConsoleGateway,
): Promise<{ readonly lossy: string; readonly failed: string }> {
  const { send, stored } = await capturing(gateway)
  await send('/v1/chat/completions', { model: 'replay', messages: [{ role: 'user', content: 'Say hello.' }] })
  const failed = await send('/v1/chat/completions', { model: 'no-such-model', messages: [] })
  await send('/v1/messages', { ...ASKED, model: MODEL, stream: false })
  const lossy = await send('/v1/messages', { ...ASKED, model: MODEL })
  await stored(failed.id)
  await stored(lossy.id)
  return { lossy: lossy.id, failed: failed.id }
}

/** Request that an upstream of another format serves. */
const MODEL = 'replay-chat-hello'
