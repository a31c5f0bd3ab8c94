import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { TurnDetection } from '../../../src/canonical/voice-session.ts'
import { InputAudio } from '../../../src/voice/cascade/input-audio.ts'
import { openVoiceActivity } from '../../../src/voice/cascade/vad.ts'
import { joined, noise, pcm, tone } from '../audio/signals.ts'
import { quiet, voice } from './voice.ts'

const opened: InputAudio[] = []
afterEach(() => {
  for (const input of opened.splice(0)) input.close()
})

async function listening(detection: TurnDetection | null = { type: 'silence' }) {
  const turns: { at: string; ms: number; audio?: Uint8Array }[] = []
  const input = new InputAudio(await openVoiceActivity(), {
    started: ms => turns.push({ at: 'started', ms }),
    stopped: (ms, audio) => turns.push({ at: 'stopped', ms, audio }),
  })
  input.detect(detection)
  opened.push(input)
  return { input, turns }
}

const MS = 32

describe('turns', () => {
  it('are found where speech begins and ends', async () => {
    const { input, turns } = await listening()
    input.append(joined(quiet(1), voice(1), quiet(1), voice(0.6), quiet(1)))
    expect(turns.map(({ at }) => at)).toEqual(['started', 'stopped', 'started', 'stopped'])
    const [first, second, third] = [turns[0]!, turns[1]!, turns[2]!]
    // 300 ms before the speech belong to the turn.
    expect(first.ms).toBeGreaterThan(600)
    expect(first.ms).toBeLessThan(850)
    expect(second.ms).toBeGreaterThan(2400)
    expect(second.ms).toBeLessThan(2750)
    expect(second.audio!.length / MS).toBeCloseTo(second.ms - first.ms, 0)
    expect(third.ms).toBeGreaterThan(2600)
  })

  it('hold what was said, to the byte', async () => {
    const { input, turns } = await listening()
    const audio = joined(quiet(1), voice(1), quiet(1))
    input.append(audio)
    const [start, end] = turns.map(({ ms }) => ms) as [number, number]
    expect(Buffer.compare(turns[1]!.audio!, audio.slice(start * MS, end * MS))).toBe(0)
  })

  it('are the same wherever the audio is cut', async () => {
    const audio = joined(quiet(0.5), voice(0.5), quiet(0.8))
    const whole = await listening()
    whole.input.append(audio)
    expect(whole.turns.length).toBe(2)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 20 }), async lengths => {
        const { input, turns } = await listening()
        let at = 0
        for (let index = 0; at < audio.length; index++) {
          const length = lengths[index % lengths.length]!
          input.append(audio.slice(at, at + length))
          at += length
        }
        expect(turns).toEqual(whole.turns)
      }),
      { numRuns: 20 },
    )
  })

  it('are not found in silence, in noise that goes on, in a click', async () => {
    const { input, turns } = await listening()
    const click = new Float64Array(3200)
    click[1600] = 30_000
    input.append(joined(quiet(3), pcm(noise(32_000, 300)), quiet(1), pcm(click), quiet(1)))
    expect(turns).toEqual([])
  })

  it('end later where more silence is asked for, and patience by eagerness', async () => {
    const endOf = async (detection: TurnDetection): Promise<number> => {
      const { input, turns } = await listening(detection)
      input.append(joined(quiet(0.5), voice(0.5), quiet(3)))
      return turns[1]!.ms
    }
    const usual = await endOf({ type: 'silence' })
    expect((await endOf({ type: 'silence', silenceMs: 1000 })) - usual).toBe(500)
    expect((await endOf({ type: 'semantic', eagerness: 'low' })) - usual).toBe(1000)
    expect((await endOf({ type: 'semantic' })) - usual).toBe(300)
  })

  it('begin earlier where more of the time before is asked for', async () => {
    const startOf = async (prefixMs: number): Promise<number> => {
      const { input, turns } = await listening({ type: 'silence', prefixMs })
      input.append(joined(quiet(2), voice(0.5), quiet(1)))
      return turns[0]!.ms
    }
    expect((await startOf(100)) - (await startOf(900))).toBe(800)
  })

  it('go on where settings change while somebody speaks', async () => {
    const { input, turns } = await listening()
    input.append(joined(quiet(0.5), voice(0.5)))
    input.detect({ type: 'silence', threshold: 0.9 })
    input.append(joined(voice(0.3), quiet(1)))
    expect(turns.map(({ at }) => at)).toEqual(['started', 'stopped'])
  })
})

describe('memory', () => {
  it('holds no more of silence than what belongs to speech after it', async () => {
    const { input } = await listening()
    for (let second = 0; second < 60; second++) input.append(quiet(1))
    expect(input.bufferedMs).toBeLessThan(500)
  })

  it('holds turns up to a bound, and makes two of a longer one', async () => {
    const { input, turns } = await listening()
    const speech = voice(10)
    for (let count = 0; count < 31; count++) input.append(speech)
    expect(turns.map(({ at }) => at).slice(0, 3)).toEqual(['started', 'stopped', 'started'])
    expect(turns[1]!.audio!.length / MS).toBeLessThanOrEqual(5 * 60_000 + 20)
    expect(input.bufferedMs).toBeLessThan(60_000)
  })

  it('refuses what it cannot hold where the client says when a turn ends', async () => {
    const { input } = await listening(null)
    const tenSeconds = pcm(tone(200, 16_000, 10))
    let taken = 0
    while (input.append(tenSeconds)) taken++
    expect(taken).toBe(30)
    expect(input.commit()!.length).toBe(30 * tenSeconds.length)
    expect(input.append(tenSeconds)).toBe(true)
  })

  it('of a full buffer makes no turn without a beginning where turns are detected from then on', async () => {
    const { input, turns } = await listening(null)
    for (let count = 0; count < 30; count++) input.append(quiet(10))
    input.detect({ type: 'silence' })
    input.append(quiet(1))
    expect(turns).toEqual([])
    expect(input.bufferedMs).toBeLessThan(500)
    input.append(joined(voice(1), quiet(1)))
    expect(turns.map(({ at }) => at)).toEqual(['started', 'stopped'])
  })

  it('is freed: a thousand detectors take no more than the first ones', async () => {
    const one = await openVoiceActivity()
    one.close()
    one.close()
    expect(one.isSpeech(new Int16Array(320))).toBe(false)
    for (let count = 0; count < 1000; count++) (await openVoiceActivity()).close()
    const { input, turns } = await listening()
    input.append(joined(quiet(0.5), voice(0.5), quiet(1)))
    expect(turns.length).toBe(2)
  })
})

describe('manual turns', () => {
  it('are all that was appended, without half a sample', async () => {
    const { input, turns } = await listening(null)
    const audio = voice(1)
    for (let at = 0; at < audio.length; at += 777) input.append(audio.slice(at, at + 777))
    input.append(Uint8Array.of(1))
    expect(Buffer.compare(input.commit()!, audio)).toBe(0)
    expect(turns).toEqual([])
    expect(input.commit()).toBeUndefined()
  })

  it('begin anew after a clear', async () => {
    const { input } = await listening(null)
    input.append(voice(1))
    input.clear()
    expect(input.commit()).toBeUndefined()
    input.append(quiet(0.05))
    expect(input.commit()).toBeUndefined()
  })
})
