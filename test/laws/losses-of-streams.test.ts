import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Losses } from '../../src/canonical/loss.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { streamed } from './arbitrary-result.ts'
import { holds } from './support.ts'
import { jobsWith, WORKS } from './works.ts'

/* A list of losses that two streams share would grow as long as the process runs, and would retain callers' texts. */

const METHODS = [
  'drop',
  'change',
  'add',
  'move',
  'insert',
  'changeRestored',
  'addRestored',
  'dropRestored',
  'report',
] as const
const originals = METHODS.map(name => [name, Losses.prototype[name]] as const)

/** Sinks that received a loss since the last call of `take`. */
let used = new Set<Losses>()
const take = (): Set<Losses> => {
  const taken = used
  used = new Set()
  return taken
}

beforeEach(() => {
  for (const [name, original] of originals)
    Object.assign(Losses.prototype, {
      [name](this: Losses, ...given: never[]): void {
        used.add(this)
        Reflect.apply(original, this, given)
      },
    })
})
afterEach(() => {
  for (const [name, original] of originals) Object.assign(Losses.prototype, { [name]: original })
})

describe('two streams share no list of losses', () => {
  it.each(jobsWith('events'))('%s: %s', (format, work) => {
    const { asked, result } = WORKS[work]!
    const seen = new WeakSet<Losses>()
    holds(streamed(result), ({ events }) => {
      drain(WRITERS[format]!.events!(asked), events)
      const sinks = take()
      expect([...sinks].filter(one => seen.has(one))).toEqual([])
      for (const one of sinks) seen.add(one)
    })
  })
})
