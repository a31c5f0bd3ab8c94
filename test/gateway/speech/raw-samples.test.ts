import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { PRESETS } from '../../../src/formats/index.ts'
import { channelAt, KEY } from '../../builders/config.ts'
import { opener } from '../../builders/opener.ts'

/* Together names raw samples `raw` and knows no `pcm` (docs/wire/speech.md#together), for which pipecat always asks. */

const { openGateway, openUpstream } = opener()
const { dialect: TOGETHER = {} } = PRESETS.get('together')!.formats.find(({ format }) => format === 'speech')!
const CONTAINERS: ReadonlySet<unknown> = new Set([undefined, 'mp3', 'wav', 'raw'])

async function speak(fields: JsonObject, dialect: JsonObject) {
  const bodies: JsonObject[] = []
  const upstream = await openUpstream((response, { text }) => {
    const body = JSON.parse(text)
    bodies.push(body)
    const isRefused = dialect === TOGETHER && !CONTAINERS.has(body.response_format)
    response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/octet-stream' }).end('abcd')
  })
  const testServer = await openGateway([channelAt(upstream.address, { format: 'speech', dialect })])
  const answer = await fetch(`${testServer.server.address}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', input: 'Tea is served.', voice: 'tara', ...fields }),
  })
  return { status: answer.status, type: answer.headers.get('content-type'), body: bodies[0] }
}

test('Together gets raw samples as its own words have them', async () => {
  const { status, type, body } = await speak({ response_format: 'pcm' }, TOGETHER)
  expect([status, type]).toEqual([200, 'audio/pcm'])
  expect(body).toMatchObject({ response_format: 'raw', response_encoding: 'pcm_s16le', sample_rate: 24_000 })
})

test("a caller's own encoding and rate are kept", async () => {
  const { body } = await speak({ response_format: 'pcm', sample_rate: 8000 }, TOGETHER)
  expect(body).toMatchObject({ response_format: 'raw', response_encoding: 'pcm_s16le', sample_rate: 8000 })
})

test('clients of Together may name raw samples, there unchanged and elsewhere as pcm', async () => {
  const own = await speak({ response_format: 'raw' }, TOGETHER)
  expect([own.status, own.body]).toEqual([200, expect.not.objectContaining({ response_encoding: 'pcm_s16le' })])
  const elsewhere = await speak({ response_format: 'raw' }, {})
  expect([elsewhere.status, elsewhere.body?.['response_format']]).toEqual([200, 'pcm'])
})
