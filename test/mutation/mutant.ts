import { readFileSync } from 'node:fs'

/** What became of a mutant. */
export type Status = 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'RuntimeError' | 'CompileError' | 'Ignored'

/** Position in a file, from 1. */
interface Position {
  readonly line: number
  readonly column: number
}

/** A mutant that Stryker tested. */
export interface TestedMutant {
  readonly file: string
  readonly mutator: string
  readonly replacement: string
  readonly start: Position
  readonly end: Position
  readonly status: Status
  /** Message of the test that failed. */
  readonly because?: string
}

/** What identifies a mutant as long as its line does not change, whatever stands above it. */
export interface Identity {
  readonly mutator: string
  /** The line on which the mutated code begins. */
  readonly line: string
  /** The mutated code. */
  readonly original: string
  readonly replacement: string
}

/** Maximum length of code in an identity, in characters. */
const MAX_LENGTH = 120

/** Joins code to one line of limited length. */
const short = (code: string): string => {
  const line = code.replace(/\s+/g, ' ').trim()
  return line.length <= MAX_LENGTH ? line : `${line.slice(0, MAX_LENGTH)}…`
}

export function identityOf({ file, mutator, replacement, start, end }: TestedMutant): Identity {
  const lines = readFileSync(file, 'utf8').split('\n')
  const original = lines
    .slice(start.line - 1, end.line)
    .map((line, index, all) => (index === all.length - 1 ? line.slice(0, end.column - 1) : line))
    .join('\n')
    .slice(start.column - 1)
  return {
    mutator,
    line: short(lines[start.line - 1]!),
    original: short(original),
    replacement: short(replacement),
  }
}
