import { createHash } from 'node:crypto'
import { milliseconds } from '../../config/units.ts'
import { Counts } from './counts.ts'

/** A fault on demand, and the share of answers with this fault. */
export type Fault = { readonly rate: number } & (
  | { readonly type: 'status'; readonly status: number }
  /** The answer is interrupted. */
  | { readonly type: 'cut' }
  /** The answer pauses. */
  | { readonly type: 'stall'; readonly ms: number }
  /** Some bytes of the answer are overwritten. */
  | { readonly type: 'garble' }
)

/** A fault of one answer, and its position in the body as a share of the bytes. */
export type PositionedFault = Fault & { readonly at: number }

const EXPECTED_SYNTAX = 'expected 429:0.1, cut:0.05, stall:2s:0.02 or garble:0.01'

/**
 * Parses faults on demand: `429:0.1,cut:0.05,stall:2s:0.02,garble:0.01`.
 *
 * @throws Error for an unknown fault, or if the sum of the rates exceeds 1.
 */
export function parseFaults(text: string): readonly Fault[] {
  const faults = text.split(',').map(part => faultOf(part.trim()))
  if (faults.reduce((sum, { rate }) => sum + rate, 0) > 1 + 1e-9) throw new Error(`${text}: the rates exceed 1`)
  return faults
}

function faultOf(text: string): Fault {
  const [name = '', ...rest] = text.split(':')
  const [rate, ms] = [Number(rest.at(-1) || Number.NaN), milliseconds(rest[0] ?? '')]
  if (!(rate >= 0 && rate <= 1)) throw new Error(`${text} has no rate from 0 to 1: ${EXPECTED_SYNTAX}`)
  if (name === 'stall' && rest.length === 2 && ms !== undefined) return { type: 'stall', ms, rate }
  if (rest.length === 1 && /^[45]\d\d$/.test(name)) return { type: 'status', status: Number(name), rate }
  if (rest.length === 1 && (name === 'cut' || name === 'garble')) return { type: name, rate }
  throw new Error(`${text} is not a fault: ${EXPECTED_SYNTAX}`)
}

/**
 * Chooses the fault of each answer. The choice depends on the seed, the request, its scope and how often it was sent,
 * so that a run can be repeated exactly even if its requests arrive in another order.
 */
export class FaultChooser {
  private readonly counts = new Counts()
  private readonly faults: readonly Fault[]
  private readonly seed: number

  constructor(faults: readonly Fault[], seed = 0) {
    this.faults = faults
    this.seed = seed
  }

  /** @param digest digest of the request. */
  next(digest: string, scope: string): PositionedFault | undefined {
    if (this.faults.length === 0) return undefined
    const id = JSON.stringify([digest, scope])
    const count = this.counts.next(id)
    const hash = createHash('sha256')
      .update(JSON.stringify([this.seed, id, count]))
      .digest()
    let share = hash.readUInt32LE(0) / 2 ** 32
    for (const fault of this.faults) {
      if (share < fault.rate) return { ...fault, at: hash.readUInt32LE(4) / 2 ** 32 }
      share -= fault.rate
    }
    return undefined
  }
}
