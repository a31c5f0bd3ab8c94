import type { Path } from '../canonical/loss.ts'

/** One fault in a config file. */
export interface Fault {
  /** Path of the value, such as `channels[0].key`, or an empty path for the whole file. */
  readonly path: string
  readonly message: string
  /** Line in the file, starting at 1. */
  readonly line?: number
}

/** Reports a fault that the schema cannot detect, with its path in the written config. */
export type FaultAt = (path: Path, message: string) => void

/** Error for an invalid config file. Lists all faults in file order. */
export class ConfigError extends Error {
  readonly faults: readonly Fault[]
  constructor(faults: readonly Fault[], file = 'config') {
    super(faults.map(fault => describeFault(fault, file)).join('\n'))
    this.name = 'ConfigError'
    this.faults = faults
  }
}

/** Formats a fault as `file:line: path: message`. */
export function describeFault(fault: Fault, file: string): string {
  const location = fault.line === undefined ? file : `${file}:${fault.line}`
  return fault.path === '' ? `${location}: ${fault.message}` : `${location}: ${fault.path}: ${fault.message}`
}

/** Formats `['channels', 0, 'key']` as `channels[0].key`. */
export function pathText(path: Path): string {
  let text = ''
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`
  return text
}

/** Maximum length of a misspelt name, in characters. The time for the comparison is proportional to the length. */
const MAX_NAME_LENGTH = 100

/** Returns the known name most similar to a misspelt one, or undefined if none is similar enough. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined
  let best: string | undefined
  let least = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best
}

/** Returns a suggestion such as `; did you mean "priority"?`, or an empty string. */
export function suggestion(name: string, known: Iterable<string>): string {
  const near = nearest(name, known)
  return near === undefined ? '' : `; did you mean "${near}"?`
}

/**
 * Returns the edit distance: the number of letters to insert, delete, replace or swap with a neighbour
 * (Damerau–Levenshtein).
 */
function editDistance(from: string, to: string): number {
  let previousRow: number[] = []
  let above = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const line = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      let cost = Math.min(above[column]! + 1, line[column - 1]! + 1, above[column - 1]! + (isSame ? 0 : 1))
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1])
        cost = Math.min(cost, previousRow[column - 2]! + 1)
      line.push(cost)
    }
    ;[previousRow, above] = [above, line]
  }
  return above[to.length]!
}
