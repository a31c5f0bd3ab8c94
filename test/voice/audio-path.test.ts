import { describe, expect, test } from 'vitest'
import { ALAW, type AudioFormat, MULAW, PCM_24K } from '../../src/canonical/voice-session.ts'
import type { ClientEvent } from '../../src/canonical/voice-session-event.ts'
import type { AudioConverter } from '../../src/voice/audio/converter.ts'
import { AudioPath } from '../../src/voice/audio-path.ts'

/** A converter that adds one byte to each chunk and records whether it is closed. */
class Marking implements AudioConverter {
  isClosed = false
  push = (bytes: Uint8Array): Uint8Array => Buffer.concat([bytes, Buffer.of(1)])
  flush = (): Uint8Array => Buffer.alloc(0)
  reset = (): void => {}
  close = (): void => void (this.isClosed = true)
}

const BOTH = { input: PCM_24K, output: PCM_24K }

/** A path between equal formats. Converters from or to `refused` cannot be opened. */
async function openPath(refused: AudioFormat, variesByResponse = false) {
  const opened: Marking[] = []
  const path = await AudioPath.open({
    ...{ caller: BOTH, upstream: { ...BOTH, variesByResponse } },
    open: async (from, to) => {
      if (from === refused || to === refused) throw new Error('There is no such converter.')
      opened.push(new Marking())
      return opened.at(-1)!
    },
  })
  return { path, opened }
}

const update = (input: AudioFormat, output: AudioFormat): ClientEvent => ({
  type: 'session-update',
  settings: { input: { format: input }, output: { format: output } },
})
/** An event of an item with a recording, within a response's own input or as one of the conversation. */
const RECORDING = {
  type: 'media',
  kind: 'audio',
  source: { type: 'base64', mediaType: 'audio/pcmu', data: 'BQU=' },
} as const
const ITEM = { role: 'user', content: [RECORDING] } as const

const APPEND: ClientEvent = { type: 'audio-append', audio: Buffer.of(5, 5) }

describe('a change of both formats', () => {
  test('whose output is refused leaves the input as it was', async () => {
    const { path, opened } = await openPath(ALAW)
    await expect(path.change(update(MULAW, ALAW))).rejects.toThrow()
    expect(path.incoming(APPEND)).toEqual([APPEND])
    const [shown] = path.outgoing({ type: 'session-updated', settings: {} })
    expect(shown).toMatchObject({ settings: { input: { format: PCM_24K }, output: { format: PCM_24K } } })
    expect(opened.map(({ isClosed }) => isClosed)).toEqual([true])
  })

  test('that is accepted converts both ways', async () => {
    const { path, opened } = await openPath(ALAW)
    await path.change(update(MULAW, MULAW))
    expect(path.incoming(APPEND)).toEqual([{ type: 'audio-append', audio: Buffer.of(5, 5, 1) }])
    expect(opened.map(({ isClosed }) => isClosed)).toEqual([false, false])
    path.close()
    expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, true])
  })

  test('that ends after the session closes its converters', async () => {
    const { path, opened } = await openPath(ALAW)
    const changing = path.change(update(MULAW, MULAW))
    path.close()
    await changing
    expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, true])
  })
})

test.each<ClientEvent>([
  { type: 'item-create', item: ITEM },
  { type: 'response-create', settings: { detached: true, context: [ITEM] } },
])('the recordings of $type are converted', async event => {
  const { path } = await openPath(ALAW)
  await path.change(update(MULAW, MULAW))
  const converted = Buffer.of(5, 5, 1).toString('base64')
  expect(JSON.stringify(path.incoming(event))).toContain(`"audio/pcm;rate=24000","data":"${converted}"`)
})

describe('the output format of one response', () => {
  const create = (format: AudioFormat): ClientEvent => ({
    type: 'response-create',
    settings: { instructions: 'Hi.', output: { format, voice: 'v' } },
  })
  const WITHOUT: ClientEvent = { type: 'response-create', settings: { instructions: 'Hi.', output: { voice: 'v' } } }
  const LOST = [{ kind: 'dropped', path: ['settings', 'output', 'format'], reason: 'settings-of-the-session' }]

  test.each<[string, boolean, AudioFormat, AudioFormat, ClientEvent, unknown]>([
    ['of the session, which is converted, is not sent', true, MULAW, MULAW, WITHOUT, []],
    ['of the session, which is not converted, is left to the upstream', true, PCM_24K, PCM_24K, create(PCM_24K), []],
    ['other than the session, which is not converted, is left to the upstream', true, PCM_24K, ALAW, create(ALAW), []],
    ['other than the session, which is converted, is lost', true, MULAW, PCM_24K, WITHOUT, LOST],
    ['of the session of an upstream with one format is not sent', false, PCM_24K, PCM_24K, WITHOUT, []],
    ['other than the session of an upstream with one format is lost', false, PCM_24K, MULAW, WITHOUT, LOST],
  ])('%s', async (_, variesByResponse, session, requested, sent, losses) => {
    const { path } = await openPath({ encoding: 'pcm16', rate: 1 }, variesByResponse)
    await path.change(update(session, session))
    expect(path.losses(create(requested))).toEqual(losses)
    expect(path.incoming(create(requested))).toEqual([sent])
  })
})
