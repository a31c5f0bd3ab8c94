import { afterEach, expect, it } from 'vitest'
import { TestServer } from '../builders/gateway.ts'
import { until } from '../builders/time.ts'
import { Client } from '../sockets/client.ts'
import { CLIENT, playing, SPOKEN_TURN } from './sessions.ts'
import { channelTo, ScriptedUpstream } from './upstream.ts'

let testServer: TestServer | undefined
let upstream: ScriptedUpstream | undefined

afterEach(async () => {
  await testServer?.server.close(0)
  await upstream?.close()
})

it('a caller of G.711 has it converted both ways', async () => {
  upstream = await ScriptedUpstream.open(playing(SPOKEN_TURN))
  testServer = await TestServer.open([channelTo(upstream)])
  const client = await Client.open(
    testServer.server.address,
    { 'openai-beta': 'realtime=v1' },
    '/v1/realtime?model=voice',
  )
  client.send({
    type: 'session.update',
    session: { input_audio_format: 'g711_ulaw', output_audio_format: 'g711_alaw' },
  })
  // 200 ms of audio. The last size cuts inside a sample.
  for (const size of [800, 799, 1])
    client.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(size, 0xff).toString('base64') })
  client.send({ type: 'input_audio_buffer.commit' })
  for (const event of CLIENT) client.send(event)
  await until(() => client.events.some(({ type }) => type === 'rate_limits.updated'))
  const { received } = upstream.connections[0]!
  const sent = received.filter(({ type }) => type === 'input_audio_buffer.append')
  const bytes = sent.reduce((sum, { audio }) => sum + Buffer.from(String(audio), 'base64').length, 0)
  expect(Math.abs(bytes - 1600 * 3 * 2)).toBeLessThanOrEqual(2 * 3)
  const formats = received.filter(({ type }) => type === 'session.update').map(({ session }) => session)
  for (const session of formats) expect(session).toMatchObject({ audio: { input: { format: { type: 'audio/pcm' } } } })
  const updated = client.events.findLast(({ type }) => type === 'session.updated')
  expect(updated.session).toMatchObject({ input_audio_format: 'g711_ulaw', output_audio_format: 'g711_alaw' })
  const back = client.events.filter(({ type }) => type === 'response.audio.delta')
  const got = back.reduce((sum, { delta }) => sum + Buffer.from(delta, 'base64').length, 0)
  // 480 bytes of PCM at 24 kHz are 80 samples at 8 kHz.
  expect(Math.abs(got - 80)).toBeLessThanOrEqual(1)
})
