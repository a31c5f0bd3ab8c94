import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { MemoryStore } from '../../src/gateway/thoughts/memory-store.ts'
import { Spool } from '../../src/ingress/transport/spool.ts'
import { channelAt } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import { Speaker, StoringGateway, scratch } from '../gateway/stored/test-server.ts'
import { ASKED, CALL, history, Remembering, THINKS, Thinker } from '../thoughts/test-server.ts'
import { upload } from '../transcriptions/upload.ts'

/* State that the gateway cannot remember does not fail a request that can do without it. */

afterEach(() => void vi.restoreAllMocks())
const { closing, openGateway, openUpstream } = opener()

test.each([true, false])(
  'thoughts that cannot be kept or found are done without, and told once (stream: %s)',
  async stream => {
    const broken = (): never => {
      throw new Error('out of order')
    }
    vi.spyOn(MemoryStore.prototype, 'save').mockImplementation(broken)
    vi.spyOn(MemoryStore.prototype, 'find').mockImplementation(broken)
    vi.spyOn(MemoryStore.prototype, 'holds').mockReturnValue(true)
    const thinker = await Thinker.open('messages')
    const gateway = await Remembering.open([thinker], [thinker.channel()])
    closing.push(() => gateway.close())
    for (let round = 0; round < 3; round++) {
      thinker.scenes = [THINKS, THINKS]
      expect((await gateway.chat([ASKED], { stream })).status).toBe(200)
      expect((await gateway.chat(history(CALL), { stream })).status).toBe(200)
    }
    const faults = gateway.testServer.lines.filter(({ level }) => level === 'error')
    expect(faults.map(({ message }) => message)).toEqual(['reasoning cannot be stored'])
  },
)

test('a conversation that cannot be sealed is put in short by nobody, until it can be', async () => {
  const place = scratch()
  closing.push(place.drop)
  const speaker = await Speaker.open('chat')
  const testServer = await StoringGateway.open([speaker], { dataDir: place.path })
  closing.push(() => testServer.close())
  const compact = () =>
    testServer.testServer.ask('/v1/responses/compact', { model: 'm', input: 'We move to Lisbon in May.' })
  mkdirSync(join(place.path, 'compaction.key'))
  for (let round = 0; round < 3; round++)
    expect(await compact()).toMatchObject({ status: 503, json: { error: { code: 'store_unavailable' } } })
  expect(speaker.upstream.seen).toHaveLength(0)
  expect(testServer.faults).toHaveLength(1)
  rmSync(join(place.path, 'compaction.key'), { recursive: true })
  expect((await compact()).status).toBe(200)
})

test('a file for which the disk has no room is a 503 that passes, told once', async () => {
  const upstream = await openUpstream(response =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"Well."}'),
  )
  // If a channel takes no streamed forms, files wait on disk.
  const testServer = await openGateway([channelAt(upstream.address, { format: 'chat' })])
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
  const opening = vi.spyOn(Spool, 'open').mockRejectedValue(full)
  const send = () =>
    upload(testServer.server.address, '/v1/audio/transcriptions', [
      { name: 'model', value: 'm' },
      { name: 'file', file: 'talk.mp3', size: 12 * 1024 * 1024 },
    ])
  for (let round = 0; round < 2; round++) expect((await send()).status).toBe(503)
  expect(opening).toHaveBeenCalled()
  expect(testServer.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
})
