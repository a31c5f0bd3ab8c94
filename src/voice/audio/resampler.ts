import { type FilterBank, filterBank } from './low-pass.ts'

/**
 * Resamples a stream of mono audio and filters out frequencies that the lower rate cannot represent. The output does
 * not depend on how the input is split into chunks. It has the same duration as the input and no delay.
 */
export class Resampler {
  private readonly bank: FilterBank
  /**
   * Input samples for the next outputs. At the start of the stream, they are preceded by zeros of half the filter
   * length.
   */
  private window: Float64Array
  private length = 0
  private phase = 0
  /** Number of input samples received since the start of the stream. */
  private received = 0
  /** Number of output samples produced since the start of the stream. */
  private produced = 0

  constructor(from: number, to: number) {
    this.bank = filterBank(from, to)
    this.window = new Float64Array(2 * this.bank.taps)
    this.reset()
  }

  push(samples: Float64Array): Float64Array {
    this.received += samples.length
    this.append(samples)
    return this.make()
  }

  /** Returns the remaining output as if the input were followed by zeros. The next `push` starts a new stream. */
  flush(): Float64Array {
    const { up, down, taps } = this.bank
    const remaining = Math.ceil((this.received * up) / down) - this.produced
    this.append(new Float64Array(taps / 2))
    const rest = this.make().slice(0, Math.max(remaining, 0))
    this.reset()
    return rest
  }

  reset(): void {
    this.length = this.bank.taps / 2 - 1
    this.window.fill(0, 0, this.length)
    this.phase = this.received = this.produced = 0
  }

  private append(samples: Float64Array): void {
    if (this.length + samples.length > this.window.length) {
      const window = new Float64Array(this.length + samples.length)
      window.set(this.window.subarray(0, this.length))
      this.window = window
    }
    this.window.set(samples, this.length)
    this.length += samples.length
  }

  private make(): Float64Array {
    const { up, down, taps, rows } = this.bank
    const { window, length } = this
    const positions = length - taps + 1
    const count = positions <= 0 ? 0 : Math.ceil((positions * up - this.phase) / down)
    const out = new Float64Array(Math.max(count, 0))
    let [at, phase] = [0, this.phase]
    for (let index = 0; index < out.length; index++) {
      out[index] = dotProduct(window, at, rows, phase * taps, taps)
      phase += down
      while (phase >= up) {
        phase -= up
        at++
      }
    }
    this.phase = phase
    this.produced += out.length
    this.drop(at)
    return out
  }

  private drop(count: number): void {
    this.window.copyWithin(0, count, this.length)
    this.length -= count
    const usual = 16 * this.bank.taps
    if (this.window.length > usual && this.length < usual) this.window = this.window.slice(0, usual)
  }
}

/** The dot product of `taps` samples and weights. `taps` is even. */
function dotProduct(a: Float64Array, from: number, b: Float64Array, start: number, taps: number): number {
  let even = 0
  let odd = 0
  for (let tap = 0; tap < taps; tap += 2) {
    even += a[from + tap]! * b[start + tap]!
    odd += a[from + tap + 1]! * b[start + tap + 1]!
  }
  return even + odd
}
