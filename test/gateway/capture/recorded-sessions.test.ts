import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readFolder } from '../../../src/kit/recordings/folder.ts'
import { openReplay, type Replay } from '../../../src/kit/recordings/replay-server.ts'
import { KEY, keyOf } from '../../builders/config.ts'
import { type Demo, openDemo } from '../../builders/demo.ts'
import { TestServer } from '../../builders/gateway.ts'
import { until } from '../../builders/time.ts'
import { Client } from '../../sockets/client.ts'

/* Sessions, polls and stored responses of a recorded key: recorded at a gateway before the demo, then replayed. */

const folder = mkdtempSync(join(tmpdir(), 'recorded-sessions-'))
let demo: Demo
let replay: Replay
const told: string[][] = []

/** One turn over the WebSocket of Responses; returns the text of the answer. */
async function turn(address: string): Promise<string> {
  const client = await Client.open(address, { authorization: `Bearer ${KEY}` }, '/v1/responses')
  client.send({ type: 'response.create', model: 'replay', input: `Hello, I am ${KEY}.` })
  await until(() => client.events.some(({ type }) => type === 'response.completed'))
  await client.close()
  return client.events.flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [delta] : [])).join('')
}

/** One turn in text of a voice session. */
async function spoken(address: string): Promise<string> {
  const client = await Client.open(address, { authorization: `Bearer ${KEY}` }, '/v1/realtime?model=replay')
  client.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } })
  const content = [{ type: 'input_text', text: 'Hello.' }]
  client.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } })
  client.send({ type: 'response.create' })
  await until(() => client.events.some(({ type }) => type === 'response.done'))
  await client.close()
  return client.events.flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [delta] : [])).join('')
}

/** A video from its submission to its file. */
async function video(address: string): Promise<string> {
  const client = new OpenAI({ apiKey: KEY, baseURL: `${address}/v1`, maxRetries: 0 })
  const { id } = await client.videos.create({ model: 'replay', prompt: 'A boat.' })
  for (;;) {
    const { status } = await client.videos.retrieve(id)
    if (status === 'completed') break
    await sleep(600)
  }
  const file = await client.videos.downloadContent(id)
  return `${(await file.arrayBuffer()).byteLength} bytes`
}

/** A background response from its submission to its end, and its items. */
async function background(address: string): Promise<string> {
  const client = new OpenAI({ apiKey: KEY, baseURL: `${address}/v1`, maxRetries: 0 })
  const { id } = await client.responses.create({ model: 'replay', input: 'Hi.', background: true })
  for (;;) {
    const { status, output_text } = await client.responses.retrieve(id)
    if (status === 'completed') return output_text
    await sleep(50)
  }
}

const all = async (address: string): Promise<string[]> => [
  await turn(address),
  await spoken(address),
  await video(address),
  await background(address),
]

beforeAll(async () => {
  demo = await openDemo()
  const { realtime } = demo
  const keys = [{ ...keyOf(KEY, 'dev'), record: { folder } }]
  const gateway = await TestServer.open(demo.channels, {
    config: { realtime, keys },
    keep: mkdtempSync(join(tmpdir(), 'kept-')),
  })
  told.push(await all(gateway.server.address))
  await gateway.server.close()
  replay = await openReplay({ recordings: readFolder(folder) })
  told.push(await all(replay.url))
}, 60_000)
afterAll(async () => {
  await replay.close()
  await demo.close()
})

describe('a key with `record`', () => {
  test('records turns and voice sessions over WebSockets, polls, files and stored responses; a replay answers alike', () => {
    expect(told[0]![0]).toMatch(/Hello/)
    expect(told[0]![2]).toMatch(/^\d{4,} bytes$/)
    expect(told[1]).toEqual(told[0])
    expect(replay.misses).toEqual([])
  })

  test('its sessions hold both sides, and neither the key nor a repetition of it', () => {
    const sessions = readFolder(folder).flatMap(({ recording }) => recording.session ?? [])
    expect(sessions).toHaveLength(2)
    for (const { frames, closed } of sessions) {
      expect(new Set(frames.map(({ from }) => from))).toEqual(new Set(['caller', 'upstream']))
      expect(closed).toMatchObject({ from: 'caller' })
    }
    expect(JSON.stringify(readFolder(folder))).not.toContain(KEY)
  })
})

test('a folder that cannot be made is a line in the log; the session goes on', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'no-folder-')), 'file')
  writeFileSync(file, '')
  const keys = [{ ...keyOf(KEY, 'dev'), record: { folder: join(file, 'below') } }]
  const gateway = await TestServer.open(demo.channels, { config: { realtime: demo.realtime, keys } })
  expect([await turn(gateway.server.address), await spoken(gateway.server.address)]).toEqual(told[0]!.slice(0, 2))
  await gateway.server.close()
  expect(gateway.lines.filter(({ message }) => message.includes('ENOTDIR')).length).toBeGreaterThanOrEqual(2)
})
