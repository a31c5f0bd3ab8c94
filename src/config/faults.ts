import type { Path } from '../canonical/loss.ts'

/** One thing wrong with a config file. */
export interface Fault {
  /** Where in the value: `channels[0].key`; empty for the file as a whole. */
  readonly path: string
  readonly message: string
  /** Line of the file, from 1. */
  readonly line?: number
}

/** A config file that cannot be used; it lists all that was found wrong, in the order of the file. */
export class ConfigError extends Error {
  readonly faults: readonly Fault[]
  constructor(faults: readonly Fault[], file = 'config') {
    super(faults.map(fault => describe(fault, file)).join('\n'))
    this.name = 'ConfigError'
    this.faults = faults
  }
}

function describe(fault: Fault, file: string): string {
  const place = fault.line === undefined ? file : `${file}:${fault.line}`
  return fault.path === '' ? `${place}: ${fault.message}` : `${place}: ${fault.path}: ${fault.message}`
}

/** `['channels', 0, 'key']` as `channels[0].key`. */
export function pathText(path: Path): string {
  let text = ''
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`
  return text
}

/** The known word a misspelt one was most likely meant to be, if any comes near. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best
}

/** `; did you mean "priority"?`, or nothing. */
export function suggestion(word: string, known: Iterable<string>): string {
  const near = nearest(word, known)
  return near === undefined ? '' : `; did you mean "${near}"?`
}

/** Letters to insert, delete, replace or swap with a neighbour to get from one word to the other. */
function editDistance(from: string, to: string): number {
  let before: number[] = []
  let above = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const line = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      let cost = Math.min(above[column]! + 1, line[column - 1]! + 1, above[column - 1]! + (same ? 0 : 1))
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1])
        cost = Math.min(cost, before[column - 2]! + 1)
      line.push(cost)
    }
    ;[before, above] = [above, line]
  }
  return above[to.length]!
}
