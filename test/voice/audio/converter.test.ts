import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ALAW, type AudioFormat, MULAW, PCM_16K, PCM_24K } from '../../../src/canonical/voice-session.ts'
import { createConverter, openConverter } from '../../../src/voice/audio/index.ts'
import { TIMED } from '../../builders/time.ts'
import { joined, loudness, loudnessAt, noise, pcm, samplesOf, tone } from './signals.ts'

const FORMATS: readonly AudioFormat[] = [
  ...[PCM_24K, PCM_16K, MULAW, ALAW],
  ...[8000, 22_050, 32_000, 44_100, 48_000].map(rate => ({ encoding: 'pcm16', rate }) as const),
]
const PAIRS = FORMATS.flatMap(from => FORMATS.filter(to => to !== from).map(to => ({ from, to })))
const nameOf = ({ encoding, rate }: AudioFormat): string => `${encoding} ${rate}`
const PCM_RATES = FORMATS.filter(({ encoding }) => encoding === 'pcm16').map(({ rate }) => rate)
const at = (rate: number): AudioFormat => ({ encoding: 'pcm16', rate })

function convert(from: AudioFormat, to: AudioFormat, bytes: Uint8Array): Uint8Array {
  const converter = createConverter(from, to)
  return joined(converter.push(bytes), converter.flush())
}

/** Encodes samples in any format, by way of PCM at the same rate. */
const encoded = (format: AudioFormat, samples: Float64Array): Uint8Array =>
  format.encoding === 'pcm16' ? pcm(samples) : convert(at(format.rate), format, pcm(samples))

const ratio = (a: number, b: number): number => 20 * Math.log10(a / b)

describe('converted audio', () => {
  it.each(PAIRS)(
    'is equal wherever it is split ($from.encoding $from.rate to $to.encoding $to.rate)',
    ({ from, to }) => {
      const bytes = encoded(from, noise(4000))
      const whole = convert(from, to, bytes)
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 30 }), lengths => {
          const converter = createConverter(from, to)
          const pieces: Uint8Array[] = []
          let start = 0
          for (const length of lengths) {
            pieces.push(converter.push(bytes.slice(start, start + length)))
            start = Math.min(start + length, bytes.length)
          }
          pieces.push(converter.push(bytes.slice(start)), converter.flush())
          expect(Buffer.compare(joined(...pieces), whole)).toBe(0)
        }),
        { numRuns: 10 },
      )
    },
  )

  it.each(PAIRS)('has the same duration ($from.encoding $from.rate to $to.encoding $to.rate)', ({ from, to }) => {
    const width = ({ encoding }: AudioFormat): number => (encoding === 'pcm16' ? 2 : 1)
    for (const count of [0, 1, 2, 160, 4001]) {
      const out = convert(from, to, new Uint8Array(count * width(from)))
      expect(out.length).toBe(Math.ceil((count * to.rate) / from.rate) * width(to))
    }
  })

  it.each(PAIRS)(
    'and back again, a voice stays as it is ($from.encoding $from.rate to $to.encoding $to.rate)',
    pair => {
      const { from, to } = pair
      const voice = [180, 410, 1300, 2900].map(frequency => tone(frequency, from.rate, 0.5, 4000))
      const before = voice[0]!.map((_, index) => voice.reduce((sum, one) => sum + one[index]!, 0))
      const there = convert(from, to, encoded(from, before))
      const after = samplesOf(convert(from, at(from.rate), convert(to, from, there)))
      const margin = from.rate / 50
      const difference = before.map((sample, index) => sample - (after[index] ?? 0))
      const coded = from.encoding !== 'pcm16' || to.encoding !== 'pcm16'
      expect(ratio(loudness(difference, margin), loudness(before, margin))).toBeLessThan(coded ? -32 : -55)
    },
  )

  it('has no frequencies above those of the lower rate', () => {
    for (const from of PCM_RATES)
      for (const to of PCM_RATES.filter(rate => rate < from))
        for (const part of [1.01, 1.2, 1.5, 1.9]) {
          const frequency = (part * to) / 2
          if (frequency >= from / 2) continue
          const before = tone(frequency, from, 0.25)
          const after = samplesOf(convert(at(from), at(to), pcm(before)))
          expect(ratio(loudness(after, 400), loudness(before)), `${frequency} Hz, ${from} to ${to}`).toBeLessThan(-60)
        }
  })

  it('has no mirror frequencies after an increase of the rate, and all frequencies of a voice', () => {
    for (const from of PCM_RATES)
      for (const to of PCM_RATES.filter(rate => rate > from)) {
        const frequency = 0.4 * from
        const after = samplesOf(convert(at(from), at(to), pcm(tone(frequency, from, 0.25))))
        const own = loudnessAt(after, frequency, to, 400)
        expect(Math.abs(ratio(own, 10_000 / Math.SQRT2)), `${from} to ${to}`).toBeLessThan(0.1)
        const image = from - frequency
        if (image < to / 2) expect(ratio(loudnessAt(after, image, to, 400), own)).toBeLessThan(-55)
      }
  })

  it('keeps a click at its time', () => {
    for (const { from, to } of PAIRS.filter(({ from, to }) => from.encoding === 'pcm16' && to.encoding === 'pcm16')) {
      const click = new Float64Array(from.rate / 10)
      const middle = Math.floor(from.rate / 20)
      click[middle] = 20_000
      const after = samplesOf(convert(from, to, pcm(click)))
      const peak = after.indexOf(Math.max(...after))
      expect(Math.abs(peak / to.rate - middle / from.rate), `${nameOf(from)} to ${nameOf(to)}`).toBeLessThan(1 / 8000)
    }
  })

  it('does not overflow, however loud it is', () => {
    const square = tone(300, 24_000, 0.2, 1e9)
    const after = samplesOf(convert(PCM_24K, PCM_16K, pcm(square)))
    const before = samplesOf(pcm(square))
    for (let index = 200; index < after.length - 200; index++) {
      const same = before[Math.round(index * 1.5)]!
      if (Math.abs(after[index]!) > 20_000) expect(Math.sign(after[index]!)).toBe(Math.sign(same))
    }
  })

  it('starts anew after a flush and after a reset', async () => {
    const converter = await openConverter(PCM_24K, PCM_16K)
    const bytes = pcm(noise(1000))
    const first = joined(converter.push(bytes), converter.flush())
    converter.push(pcm(noise(333)).subarray(1))
    converter.reset()
    expect(joined(converter.push(bytes), converter.flush())).toEqual(first)
    converter.push(Uint8Array.of(7))
    converter.flush()
    expect(joined(converter.push(bytes), converter.flush())).toEqual(first)
    converter.close()
  })

  it('is refused at invalid rates', async () => {
    for (const rate of [0, -1, 7999, 1e9, Number.NaN, 16_000.5])
      await expect(openConverter(at(rate), PCM_16K)).rejects.toMatchObject({ error: { kind: 'invalid-request' } })
  })

  it('takes far less than a minute per minute', TIMED, () => {
    const minute = pcm(noise(60 * 24_000))
    const before = performance.now()
    convert(PCM_24K, PCM_16K, minute)
    expect(performance.now() - before).toBeLessThan(6000)
  })
})
