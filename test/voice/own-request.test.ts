import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { fold } from '../../src/canonical/fold.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { Gateway } from '../../src/gateway/index.ts'
import { Services } from '../../src/gateway/services.ts'
import type { RunRequest } from '../../src/voice/upstream.ts'
import { configOf } from '../builders/config.ts'
import { type Demo, openDemo } from '../builders/demo.ts'
import { permitting } from '../builders/permissions.ts'

let replay: Demo
let services: Services
let run: RunRequest
const lines: object[] = []

beforeAll(async () => {
  replay = await openDemo()
  const log = { info: (fields: object) => void lines.push(fields), warn: () => {}, error: () => {} }
  services = new Services(configOf(replay.channels), log)
  const caller = { key: 'dev', id: 'dev', group: 'default', permissions: permitting('*') }
  const { realtime } = new Gateway(services) as unknown as {
    realtime: () => Promise<{ run(caller: object, message: IncomingMessage): RunRequest }>
  }
  run = (await realtime()).run(caller, { headers: {} } as IncomingMessage)
})

afterAll(async () => {
  await services.close()
  await replay.close()
})

const plain = { model: 'replay', sampling: {}, output: {} }

async function all(request: CanonicalRequest): Promise<CanonicalEvent[]> {
  const events: CanonicalEvent[] = []
  for await (const event of run(request, new AbortController().signal)) events.push(event)
  return events
}

it('a conversation streams', async () => {
  const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Say hello.' }] }]
  const events = await all({ ...plain, messages, stream: true })
  expect(events[0]!.type).toBe('result-start')
  const [part] = fold(events).candidates[0]!.content
  expect(part).toMatchObject({ type: 'text' })
  expect(lines.at(-1)).toMatchObject({ key: 'dev', door: '/v1/realtime', model: 'replay' })
})

it('speech comes as samples, a transcript as text', async () => {
  const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] }]
  const output = { modalities: ['audio' as const], audio: { voice: 'alloy', mediaType: 'audio/wav' } }
  const [sound] = fold(await all({ ...plain, messages, output, stream: false })).candidates[0]!.content
  if (sound?.type !== 'media' || sound.source.type !== 'base64') throw new Error('no sound')
  const source = { type: 'base64' as const, mediaType: 'audio/wav', data: sound.source.data }
  const transcribed = await all({
    ...plain,
    messages: [{ role: 'user', content: [{ type: 'media', kind: 'audio', source, name: 'turn.wav' }] }],
    output: { transcript: { task: 'transcribe' } },
    stream: false,
  })
  expect(fold(transcribed).candidates[0]!.content[0]).toMatchObject({ type: 'text' })
})

it('a failure is thrown, and leaving ends the work', async () => {
  const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Say hello.' }] }]
  await expect(all({ ...plain, model: 'nobody', messages, stream: true })).rejects.toMatchObject({
    error: { kind: 'not-found' },
  })
  for await (const _ of run({ ...plain, messages, stream: true }, new AbortController().signal)) break
})
