import { expect, test } from 'vitest'
import { wavHeader } from '../../../src/canonical/media/wav.ts'
import { PRESETS } from '../../../src/formats/index.ts'
import { channelAt, KEY } from '../../builders/config.ts'
import { opener } from '../../builders/opener.ts'
import { framesIn } from '../../speech/frames.ts'

/* Groq's voices refuse every container but WAV with 400 (hermes-studio#2328), and clients expect MP3 where they name none. */

const { openGateway, openUpstream } = opener()
const { dialect = {} } = PRESETS.get('groq')!.formats.find(({ format }) => format === 'speech')!
const SAMPLES = Buffer.from(Int16Array.from({ length: 4800 }, (_, at) => 9000 * Math.sin(at / 9)).buffer)

async function speak(fields: object, rate = 24_000) {
  const asked: unknown[] = []
  const upstream = await openUpstream((response, { text }) => {
    asked.push(JSON.parse(text).response_format)
    const file = Buffer.concat([wavHeader({ rate, channels: 1 }, SAMPLES.length), SAMPLES, Buffer.from('LIST')])
    response.writeHead(200, { 'content-type': 'audio/wav' }).end(file)
  })
  const testServer = await openGateway([channelAt(upstream.address, { format: 'speech', dialect })])
  const answer = await fetch(`${testServer.server.address}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', input: 'Tea is served.', voice: 'troy', ...fields }),
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  return { asked, status: answer.status, type: answer.headers.get('content-type'), bytes }
}

test.each([{}, { response_format: 'mp3' }])('a caller of MP3 (%j) gets it', async fields => {
  const { asked, status, type, bytes } = await speak(fields)
  expect([asked, status, type]).toEqual([['wav'], 200, 'audio/mpeg'])
  expect(framesIn(bytes)).toBeGreaterThan(4)
})

test('a caller of raw samples gets those of the file', async () => {
  const { asked, type, bytes } = await speak({ response_format: 'pcm' })
  expect([asked, type]).toEqual([['wav'], 'audio/pcm'])
  expect(bytes.equals(SAMPLES)).toBe(true)
})

test('a caller of WAV gets the file', async () => {
  const { asked, type, bytes } = await speak({ response_format: 'wav' })
  expect([asked, type, bytes.subarray(0, 4).toString()]).toEqual([['wav'], 'audio/wav', 'RIFF'])
})

test('a container that the gateway does not make is refused', async () => {
  const { asked, status } = await speak({ response_format: 'opus' })
  expect([asked, status]).toEqual([[], 422])
})
