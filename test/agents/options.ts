import { parseArgs } from 'node:util'
import type { Cell } from './cell.ts'
import { choose } from './choice.ts'

/** Options of both parts of the program, outside and inside the namespace. */
export interface Options {
  readonly cells: readonly Cell[]
  readonly list: boolean
  readonly help: boolean
  /** Time after which no further cell begins, in minutes. */
  readonly minutes: number
  /** File for the counts. */
  readonly report: string | undefined
}

/** Reads the command line. Throws TypeError for an unknown option. */
export function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      all: { type: 'boolean', default: false },
      cell: { type: 'string', multiple: true, default: [] },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      report: { type: 'string' },
      minutes: { type: 'string', default: 'Infinity' },
    },
  })
  const { all, cell, list, help, report } = values
  const minutes = Number(values.minutes)
  if (!(minutes > 0)) throw new TypeError(`--minutes takes a positive number, not ${values.minutes}`)
  return { cells: choose({ all, texts: cell }), list, help, report, minutes }
}
