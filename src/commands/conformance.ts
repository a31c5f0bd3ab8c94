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
  throw new InvalidArgumentError('Expected a number of milliseconds.')
}

/** Adds the `conformance` command. Its implementation is loaded when the command runs. */
export function conformance(program: Command, terminal: Terminal): void {
  program
    .command('conformance')
    .description('test whether a gateway or provider follows its formats and preserves requests')
    .option('--target <url>', 'URL of a running endpoint (live mode)')
    .option('--key <key>', 'key for the target')
    .option('--model <model>', 'model to request from the target')
    .option('--peer <name>', 'gateway to start in front of the mock upstream: a name, or a folder with a peer.yaml')
    .option('--door <formats>', 'caller formats, separated by commas (default: all)', formatsOf)
    .option('--upstream <formats>', 'upstream formats, separated by commas (default: all)', formatsOf)
    .option('--only <id>', 'id of a cell or check; * matches anything')
    .option('--json <file>', 'file to write the results to')
    .option('--delay <ms>', 'milliseconds to wait between cells', millisecondsOf)
    .action(async (options: ConformanceOptions) => {
      const { conformanceCommand } = await import('./conformance-run.ts')
      await conformanceCommand(options, terminal)
    })
}
