import { type Command, InvalidArgumentError } from 'commander'
import { suggestion } from '../config/faults.ts'
import { FORMATS } from '../kit/conformance/formats/index.ts'
import type { ConformanceOptions } from './conformance-run.ts'
import type { Terminal } from './outcome.ts'

function formatsOf(text: string): string[] {
  const names = text.split(',')
  const known = Object.keys(FORMATS)
  for (const name of names)
    if (!known.includes(name))
      throw new InvalidArgumentError(`The kit has no format ${name}${suggestion(name, known)} (${known.join(', ')}).`)
  return names
}

function millisecondsOf(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is no number of milliseconds.')
}

/** Adds the command. Its work is loaded when it runs. */
export function conformance(program: Command, terminal: Terminal): void {
  program
    .command('conformance')
    .description('judge any gateway or provider: does it speak its formats, and what becomes of a request?')
    .option('--target <url>', 'a running endpoint (live mode)')
    .option('--key <key>', 'its key')
    .option('--model <model>', 'its model')
    .option('--peer <name>', 'a gateway the kit starts before its own upstream: a name, or a folder with a peer.yaml')
    .option('--door <formats>', 'the formats of callers, separated by commas (default: all)', formatsOf)
    .option('--upstream <formats>', 'the formats of upstreams (default: all)', formatsOf)
    .option('--only <id>', 'the id of a cell or a check; * stands for anything')
    .option('--json <file>', 'write the results there')
    .option('--delay <ms>', 'wait between cells', millisecondsOf)
    .action(async (options: ConformanceOptions) => {
      const { conformanceCommand } = await import('./conformance-run.ts')
      await conformanceCommand(options, terminal)
    })
}
