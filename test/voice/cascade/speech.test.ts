import { spawnSync } from 'node:child_process'
import { afterEach, describe, expect, it } from 'vitest'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { PCM_16K } from '../../../src/canonical/voice-session.ts'
import { createConverter } from '../../../src/voice/audio/index.ts'
import { joined, loudness, noise, pcm, samplesOf } from '../audio/signals.ts'
import { pause, Rig, says } from './rig.ts'
import { quiet } from './voice.ts'

/* Speech from a synthesizer (`apt-get install espeak-ng`) through turn detection and through a whole cascade. */

const hasVoice = spawnSync('espeak-ng', ['--version']).status === 0
if (!hasVoice) console.warn('SKIPPED: espeak-ng is not installed, so no real speech is tried.')

/** Speaks words as PCM16 at a given rate. */
function read(words: string, rate: number, voice = 'en-us'): Uint8Array {
  const { stdout } = spawnSync('espeak-ng', ['-v', voice, '--stdout', words], { maxBuffer: 2 ** 28 })
  const from = { encoding: 'pcm16', rate: stdout.readUInt32LE(24) } as const
  const converter = createConverter(from, { encoding: 'pcm16', rate })
  const audio = stdout.subarray(44)
  return joined(converter.push(audio.subarray(0, audio.length & ~1)), converter.flush())
}

const recordingOf = async ({ messages }: CanonicalRequest): Promise<Uint8Array> => {
  const part = messages.at(-1)!.content[0]
  if (part?.type !== 'media' || part.source.type !== 'bytes') throw new Error('No recording.')
  return Buffer.concat(await Array.fromAsync(part.source.bytes.read())).subarray(44)
}

/** Similarity of two recordings by their loudness in steps of 20 ms; 1 means equal. */
function likeness(a: Uint8Array, b: Uint8Array): number {
  const [left, right] = [a, b].map(bytes => {
    const samples = samplesOf(bytes)
    return Array.from({ length: Math.floor(samples.length / 320) }, (_, index) =>
      loudness(samples.subarray(320 * index, 320 * (index + 1))),
    )
  }) as [number[], number[]]
  let best = 0
  for (let shift = 0; shift <= 40; shift++) {
    const pairs = left.map((one, index) => [one, right[index + shift] ?? 0] as const)
    const dot = pairs.reduce((sum, [x, y]) => sum + x * y, 0)
    best = Math.max(best, dot / Math.hypot(...left) / Math.hypot(...pairs.map(([, y]) => y)))
  }
  return best
}

const rigs: Rig[] = []
afterEach(() => {
  for (const rig of rigs.splice(0)) rig.upstream.close(1000, '')
})

const QUESTIONS = ['What is the weather like in Paris today?', 'And how warm will it be tomorrow afternoon?']
const ANSWER = 'It is sunny in Paris today. Tomorrow it will be a little colder. Take a jacket with you.'

describe.skipIf(!hasVoice)('real speech', () => {
  it.each([
    ['in silence', 0],
    ['in noise', 250],
  ])('%s is one turn for each question, whole', async (_, hiss) => {
    const questions = QUESTIONS.map(words => read(words, 16_000))
    const clean = joined(quiet(1), questions[0]!, quiet(1.2), questions[1]!, quiet(1.2))
    const background = noise(clean.length / 2, hiss)
    const audio = pcm(samplesOf(clean).map((sample, index) => sample + background[index]!))
    const recordings: Uint8Array[] = []
    const rig = await Rig.open(
      {
        transcription: async function* (request, signal) {
          recordings.push(await recordingOf(request))
          yield* says(QUESTIONS[recordings.length - 1]!)(request, signal)
        },
      },
      { input: { transcription: {} } },
    )
    rigs.push(rig)
    for (let at = 0; at < audio.length; at += 640) rig.send({ type: 'audio-append', audio: audio.slice(at, at + 640) })
    await rig.until('input-transcript-done', rig.types.indexOf('input-transcript-done') + 1)
    expect(rig.all('input-transcript-done').map(({ text }) => text)).toEqual(QUESTIONS)
    expect(recordings.length).toBe(2)
    for (const [index, recording] of recordings.entries())
      expect(likeness(questions[index]!, recording)).toBeGreaterThan(0.95)
    expect(likeness(questions[0]!, recordings[1]!)).toBeLessThan(0.9)
  })

  it.each(['en-us', 'de', 'fr-fr', 'cmn'])('of %s is found', async voice => {
    const rig = await Rig.open()
    rigs.push(rig)
    const words = voice === 'cmn' ? '今天天气很好我们去公园吧' : 'Paris Berlin Madrid telefon radio'
    rig.send({ type: 'audio-append', audio: joined(quiet(1), read(words, 16_000, voice), quiet(1)) })
    expect(rig.all('audio-committed').length).toBe(1)
  })

  it('is the answer, sentence by sentence and nothing between', async () => {
    const rig = await Rig.open({
      conversation: says(ANSWER),
      speech: async function* (request) {
        const [part] = request.messages.at(-1)!.content
        const audio = Buffer.from(read(part?.type === 'text' ? part.text : '', 24_000))
        const at = { candidate: 0, part: 0 } as const
        const source = { type: 'base64', mediaType: 'audio/pcm', data: '' } as const
        yield { type: 'result-start' }
        yield { type: 'part-start', at, part: { type: 'media', kind: 'audio', source } }
        for (let from = 0; from < audio.length; from += 4803)
          yield { type: 'part-delta', at, append: audio.toString('base64', from, from + 4803) }
        yield { type: 'part-end', at }
        yield { type: 'result-end' }
      },
    })
    rigs.push(rig)
    rig.say('Tell me.')
    await rig.until('response-end')
    await pause(0)
    const whole = joined(...rig.all('audio-delta').map(({ audio }) => audio))
    const sentences = ANSWER.split(/(?<=\.) /).map(words => read(words, 24_000))
    expect(Buffer.compare(whole, joined(...sentences))).toBe(0)
    // The cascade's output is usable as input.
    const back = createConverter({ encoding: 'pcm16', rate: 24_000 }, PCM_16K)
    rig.send({ type: 'audio-append', audio: joined(quiet(0.5), back.push(whole), back.flush(), quiet(1)) })
    expect(rig.all('speech-started').length).toBeGreaterThan(0)
  })
})
