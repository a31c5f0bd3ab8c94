import { parseArgs } from 'node:util'
import type { Cell } from './cell.ts'
import { choose } from './choice.ts'

/** What both halves of the program are told: the one outside of the namespace and the one inside. */
export interface Options {
  readonly cells: readonly Cell[]
  readonly list: boolean
  readonly help: boolean
  /** Where counts are written. */
  readonly report: string | undefined
}

/** Reads the command line. @throws TypeError for an option there is not. */
export function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      all: { type: 'boolean', default: false },
      cell: { type: 'string', multiple: true, default: [] },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      report: { type: 'string' },
    },
  })
  const { all, cell, list, help, report } = values
  return { cells: choose({ all, texts: cell }), list, help, report }
}
