import { describe, expect, test } from 'vitest'
import { ALAW, type AudioFormat, MULAW, PCM_24K } from '../../src/canonical/voice-session.ts'
import type { ClientEvent, ServerEvent } from '../../src/canonical/voice-session-event.ts'
import type { AudioConverter } from '../../src/voice/audio/converter.ts'
import { openConverter } from '../../src/voice/audio/index.ts'
import { AudioPath } from '../../src/voice/audio-path.ts'
import { noise, pcm } from './audio/signals.ts'

/** A converter that adds one byte to each chunk and records whether it is closed. */
class Marking implements AudioConverter {
  isClosed = false
  push = (bytes: Uint8Array): Uint8Array => Buffer.concat([bytes, Buffer.of(1)])
  flush = (): Uint8Array => Buffer.alloc(0)
  reset = (): void => {}
  fork = (): AudioConverter => new Marking()
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

test('the audio of two responses at once is converted as if each were alone', async () => {
  const sounds = [noise(2400, 9000, 1), noise(2400, 9000, 2)].map(samples => Buffer.from(pcm(samples)))
  const delta = (response: number, from: number): ServerEvent => ({
    type: 'audio-delta',
    at: { response: `resp_${response}`, item: `item_${response}`, output: 0, part: 0 },
    audio: sounds[response]!.subarray(from, from + 601),
  })
  const end = (response: number): ServerEvent => ({
    ...{ type: 'output-end', response: `resp_${response}`, output: 0, item: `item_${response}` },
    status: 'completed',
  })
  const heard = async (responses: readonly number[]) => {
    const path = await AudioPath.open({
      ...{ caller: { input: MULAW, output: MULAW }, upstream: BOTH, open: openConverter },
    })
    const events: ServerEvent[] = []
    for (let from = 0; from < 4800; from += 601)
      for (const response of responses) events.push(...path.outgoing(delta(response, from)))
    for (const response of responses) events.push(...path.outgoing(end(response)))
    return responses.map(response =>
      Buffer.concat(
        events.flatMap(event =>
          event.type === 'audio-delta' && event.at.response === `resp_${response}` ? [event.audio] : [],
        ),
      ),
    )
  }
  const together = await heard([0, 1])
  expect(together.map(({ length }) => length)).toEqual([800, 800])
  expect(together).toEqual([...(await heard([0])), ...(await heard([1]))])
})

test.each<[string, 'outgoing' | 'incoming', ServerEvent | ClientEvent, boolean]>([
  ['speech of the user', 'outgoing', { type: 'speech-started', item: 'item_2', atMs: 1 }, false],
  ['a cancellation', 'incoming', { type: 'response-cancel' }, false],
  ['speech of the user that does not interrupt it', 'outgoing', { type: 'speech-started', item: 'i', atMs: 1 }, true],
])(
  'audio that a converter still buffers after %s: no delta follows an interruption',
  async (_, side, event, goesOn) => {
    const path = await AudioPath.open({
      ...{ caller: { input: MULAW, output: MULAW }, upstream: BOTH, open: openConverter },
    })
    const at = { response: 'resp_1', item: 'item_1', output: 0, part: 0 }
    const delta: ServerEvent = { type: 'audio-delta', at, audio: Buffer.from(pcm(noise(2400, 9000, 1))) }
    path.outgoing(delta)
    if (side === 'outgoing') path.outgoing(event as ServerEvent)
    else path.incoming(event as ClientEvent)
    if (goesOn) path.outgoing(delta)
    const types = path.outgoing({ type: 'part-end', at }).map(({ type }) => type)
    expect(types).toEqual(goesOn ? ['audio-delta', 'part-end'] : ['part-end'])
  },
)
