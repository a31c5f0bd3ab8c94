import { afterEach, describe, expect, it } from 'vitest'
import type { VoiceSessionSettings } from '../../../src/canonical/voice-session.ts'
import type { ServerEvent } from '../../../src/canonical/voice-session-event.ts'
import { TIMED } from '../../builders/time.ts'
import { faultsIn } from './grammar.ts'
import { inTurn, pause, Rig, type Scripts, says, speaks, textsOf } from './rig.ts'
import { turn, voice } from './voice.ts'

const rigs: Rig[] = []
afterEach(() => {
  for (const rig of rigs.splice(0)) {
    rig.upstream.close(1000, '')
    expect(faultsIn(rig.events)).toEqual([])
  }
})

async function open(scripts: Scripts = {}, settings: VoiceSessionSettings = {}): Promise<Rig> {
  const rig = await Rig.open(scripts, settings)
  rigs.push(rig)
  return rig
}

const LONG = 'The first sentence is long enough. The second sentence is no shorter. The third one is never heard.'
const slow: Scripts = { conversation: says(LONG, { pace: 3 }), speech: speaks({ pace: 2, msPerLetter: 20 }) }
const bytesOf = (rig: Rig): number => rig.all('audio-delta').reduce((sum, { audio }) => sum + audio.length, 0)

/** The stages at which a response is interrupted. */
const STAGES: readonly ServerEvent['type'][] = ['response-start', 'output-start', 'transcript-delta', 'audio-delta']

describe('a response that is cancelled', TIMED, () => {
  it.each(STAGES)('at its %s stops all its requests within 50 ms, and its events', async stage => {
    const rig = await open(slow)
    rig.say('Go.')
    await rig.until(stage)
    if (stage === 'audio-delta') await pause(30)
    const before = performance.now()
    rig.send({ type: 'response-cancel' })
    await rig.until('response-end')
    expect(performance.now() - before).toBeLessThan(50)
    expect(rig.open).toBe(0)
    const count = rig.events.length
    const taken = rig.runs.map(run => run.taken)
    await pause(60)
    expect(rig.events.length).toBe(count)
    expect(rig.runs.map(run => run.taken)).toEqual(taken)
    expect(rig.events.at(-1)).toMatchObject({ status: 'cancelled', reason: 'client_cancelled' })
    expect(rig.all('output-end').every(({ status }) => status === 'incomplete')).toBe(true)
  })

  it.each(STAGES)('by the very listener of its %s keeps the grammar', async stage => {
    const rig = await open(slow)
    rig.onEvent = event => {
      if (event.type === stage) rig.send({ type: 'response-cancel' })
    }
    rig.say('Go.')
    await rig.until('response-end')
    await pause(10)
    expect(rig.open).toBe(0)
    expect(rig.all('response-end').length).toBe(1)
  })

  it('although its upstreams do not notice the abort', async () => {
    const deaf = new AbortController().signal
    const rig = await open({
      conversation: request => says(LONG, { pace: 3 })(request, deaf),
      speech: request => speaks({ pace: 2 })(request, deaf),
    })
    rig.say('Go.')
    await rig.until('audio-delta')
    rig.send({ type: 'response-cancel' })
    const count = rig.events.length
    await pause(40)
    expect(rig.events.length).toBe(count)
    expect(rig.open).toBe(0)
  })

  it('leaves in the history what was spoken, and the next response is made from it', async () => {
    const rig = await open(slow)
    rig.say('Go.')
    const firstSentence = 20 * 'The first sentence is long enough.'.length * 48
    while (bytesOf(rig) < firstSentence + 4800) await pause(2)
    rig.send({ type: 'response-cancel' })
    const from = rig.events.length
    rig.say('What was that?')
    await rig.until('response-start', from)
    await pause(5)
    const [, history] = textsOf(rig.of('chat')[1]!.request)
    expect(history).toMatch(/^assistant: The first sentence is long enough\. /)
    expect(history).not.toMatch(/shorter/)
    expect(LONG.startsWith(history!.slice('assistant: '.length))).toBe(true)
  })
})

describe('speech of the user', TIMED, () => {
  it('cancels the response within 50 ms of being found', async () => {
    const rig = await open(slow)
    rig.say('Go.')
    await rig.until('audio-delta')
    rig.send({ type: 'audio-append', audio: turn(0.5) })
    const [started, ended] = [rig.types.indexOf('speech-started'), rig.types.indexOf('response-end')]
    expect(started).toBeGreaterThan(0)
    expect(ended).toBeGreaterThan(started)
    expect(rig.events[ended]).toMatchObject({ status: 'cancelled', reason: 'turn_detected' })
    expect(rig.times[ended]! - rig.times[started]!).toBeLessThan(50)
    expect([...rig.of('chat'), ...rig.of('mouth')].filter(({ over }) => !over)).toEqual([])
    await rig.until('response-end', ended + 1)
  })

  it('is found within 200 ms of its beginning', async () => {
    const rig = await open(slow)
    rig.say('Go.')
    await rig.until('audio-delta')
    const audio = voice(1)
    for (let ms = 0; ms < 200; ms += 20) rig.send({ type: 'audio-append', audio: audio.slice(ms * 32, ms * 32 + 640) })
    expect(rig.types).toContain('speech-started')
    expect(rig.types).toContain('response-end')
  })

  it('while its last words are still transcribed leaves these in the history', async () => {
    const rig = await open({ transcription: inTurn(says('First I said this,', { pace: 15 }), says('then that.')) })
    rig.send({ type: 'audio-append', audio: turn(0.5) })
    rig.send({ type: 'audio-append', audio: turn(0.5) })
    await rig.until('response-end', rig.types.indexOf('response-end') + 1)
    expect(rig.all('response-end').map(({ status }) => status)).toEqual(['cancelled', 'completed'])
    expect(rig.of('chat').map(({ request }) => textsOf(request))).toEqual([
      ['user: First I said this,', 'user: then that.'],
    ])
  })

  it('does not cancel where the client does not want that', async () => {
    const rig = await open(
      { speech: speaks({ pace: 1, msPerLetter: 2 }) },
      { input: { turnDetection: { type: 'silence', interrupt: false, respond: false } } },
    )
    rig.say('Go.')
    await rig.until('audio-delta')
    rig.send({ type: 'audio-append', audio: turn(0.5) })
    expect(await rig.until('response-end')).toMatchObject({ status: 'completed' })
  })
})

describe('truncation', TIMED, () => {
  const spokenItem = async (): Promise<{ rig: Rig; item: string }> => {
    const rig = await open({ conversation: says(LONG), speech: speaks({ msPerLetter: 10 }) })
    rig.say('Go.')
    await rig.until('response-end')
    return { rig, item: rig.all('output-start')[0]!.item.id }
  }

  it('leaves in the history what was played', async () => {
    const { rig, item } = await spokenItem()
    // The first sentence takes 340 ms and half of its space, and 'The second' ends 100 ms later.
    rig.send({ type: 'item-truncate', item, part: 0, audioEndMs: 460 })
    expect(rig.all('item-truncated')).toEqual([{ type: 'item-truncated', item, part: 0, audioEndMs: 460 }])
    const from = rig.events.length
    rig.say('And?')
    await rig.until('response-end', from)
    expect(textsOf(rig.of('chat')[1]!.request)).toEqual([
      'user: Go.',
      'assistant: The first sentence is long enough. The second',
      'user: And?',
    ])
  })

  it('of everything leaves nothing, of nothing everything', async () => {
    for (const [audioEndMs, rest] of [
      [0, []],
      [1e9, [`assistant: ${LONG}`]],
    ] as const) {
      const { rig, item } = await spokenItem()
      rig.send({ type: 'item-truncate', item, part: 0, audioEndMs })
      const from = rig.events.length
      rig.say('And?')
      await rig.until('response-end', from)
      expect(textsOf(rig.of('chat')[1]!.request)).toEqual(['user: Go.', ...rest, 'user: And?'])
    }
  })

  it('while the item is still being spoken holds when it ends', async () => {
    const rig = await open(slow)
    rig.say('Go.')
    await rig.until('audio-delta')
    while (bytesOf(rig) < 400 * 48) await pause(2)
    rig.send({ type: 'item-truncate', item: rig.all('output-start')[0]!.item.id, part: 0, audioEndMs: 300 })
    rig.send({ type: 'response-cancel' })
    const from = rig.events.length
    rig.say('And?')
    await rig.until('response-start', from)
    await pause(5)
    expect(textsOf(rig.of('chat')[1]!.request)).toEqual(['user: Go.', 'assistant: The', 'user: And?'])
  })
})

describe('a session that ends', TIMED, () => {
  const order = [
    'session-created',
    'speech-started',
    'audio-committed',
    'input-transcript-delta',
    'response-start',
    'output-start',
    'transcript-delta',
    'audio-delta',
    'part-end',
    'response-end',
  ] as const

  it.each(order)('at its first %s leaves no request, no event, no timer', async stage => {
    const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
    const before = timers()
    const rig = await Rig.open(
      {
        transcription: says('Hi there.', { pace: 1 }),
        conversation: says(LONG, { pace: 1 }),
        speech: speaks({ pace: 1, msPerLetter: 1 }),
      },
      { input: { transcription: {} } },
    )
    let count: number | undefined
    rig.onEvent = event => {
      if (event.type !== stage || count !== undefined) return
      count = rig.events.length
      rig.upstream.close(1001, '')
      rig.upstream.close(1001, '')
    }
    if (stage === 'session-created') rig.upstream.close(1001, '')
    rig.send({ type: 'audio-append', audio: turn(0.5) })
    if (stage !== 'session-created') await rig.until(stage)
    await pause(20)
    expect(rig.open).toBe(0)
    expect(rig.events.length).toBe(count ?? 1)
    expect(timers()).toBeLessThanOrEqual(before)
    for (const event of [{ type: 'audio-append', audio: turn(0.5) }, { type: 'response-create' }] as const)
      rig.send(event)
    await pause(5)
    expect(rig.events.length).toBe(count ?? 1)
  })
})

describe('a slow caller', TIMED, () => {
  it('holds up the requests, and gets the rest afterwards', async () => {
    const rig = await open({ conversation: says(LONG), speech: speaks({ msPerLetter: 100 }) })
    rig.say('Go.')
    await rig.until('audio-delta')
    rig.upstream.pause()
    await pause(10)
    const [taken, bytes] = [rig.runs.map(run => run.taken), bytesOf(rig)]
    await pause(30)
    expect(rig.runs.map(run => run.taken)).toEqual(taken)
    expect(bytesOf(rig)).toBe(bytes)
    rig.upstream.resume()
    expect(await rig.until('response-end')).toMatchObject({ status: 'completed' })
    expect(bytesOf(rig) / 48).toBeGreaterThan(9000)
  })

  it('can still cancel', async () => {
    const rig = await open({ conversation: says(LONG), speech: speaks({ msPerLetter: 100 }) })
    rig.say('Go.')
    await rig.until('audio-delta')
    rig.upstream.pause()
    await pause(5)
    rig.send({ type: 'response-cancel' })
    await rig.until('response-end')
    await pause(5)
    expect(rig.open).toBe(0)
  })

  it('does not fill the memory with sentences that are not played yet', async () => {
    const text = `Short first one. ${'A sentence that goes on and on '.repeat(9)}.`
    const rig = await open({
      conversation: says(text),
      speech: inTurn(speaks({ pace: 5, msPerLetter: 20 }), speaks({ msPerLetter: 100 })),
    })
    rig.say('Go.')
    await rig.until('audio-delta')
    await pause(20)
    const [, second] = rig.of('mouth')
    expect(second!.taken * 960).toBeLessThan(600 * 1024)
    expect(second!.taken).toBeGreaterThan(10)
    await rig.until('response-end')
    expect(second!.over).toBe(true)
  })
})

describe('a slow transcription', TIMED, () => {
  it('is reported as bytes that wait, where there are many', async () => {
    const rig = await open({ transcription: says('Well.', { pace: 20 }) }, { input: { turnDetection: null } })
    for (let count = 0; count < 6; count++) {
      rig.send({ type: 'audio-append', audio: voice(0.5) })
      rig.send({ type: 'audio-commit' })
    }
    expect(rig.upstream.buffered).toBe(2 * 16_000)
    expect(rig.of('ears').length).toBe(4)
    rig.send({ type: 'response-create' })
    await rig.until('response-end')
    expect(rig.upstream.buffered).toBe(0)
    expect(textsOf(rig.of('chat')[0]!.request).length).toBe(6)
  })
})
