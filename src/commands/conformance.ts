import { type Command, InvalidArgumentError } from 'commander'
import { suggestion } from '../config/faults.ts'
import type { Price } from '../kit/conformance/budget.ts'
import { FORMATS } from '../kit/conformance/formats/index.ts'
import { SESSION_FORMATS } from '../kit/conformance/sockets/formats.ts'
import type { ConformanceOptions } from './conformance-run.ts'
import type { Terminal } from './outcome.ts'

function formatsOf(text: string): string[] {
  const names = text.split(',')
  const known = [...Object.keys(FORMATS), ...Object.keys(SESSION_FORMATS)]
  for (const name of names)
    if (!known.includes(name))
      throw new InvalidArgumentError(`The kit has no format ${name}${suggestion(name, known)} (${known.join(', ')}).`)
  return names
}

function millisecondsOf(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected a number of milliseconds.')
}

function countOf(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected a whole number from 1 to 9999.')
}

function dollarsOf(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected an amount in USD.')
}

function priceOf(text: string): Price {
  const [input = '', output = '', more] = text.split('/')
  if (more !== undefined) throw new InvalidArgumentError('Expected INPUT/OUTPUT.')
  return { input: dollarsOf(input), output: dollarsOf(output) }
}

/** Adds the `conformance` command. Its implementation is loaded when the command runs. */
export function conformance(program: Command, terminal: Terminal): void {
  const command = program
    .command('conformance')
    .description('test whether a gateway or provider follows its formats and preserves requests')
    .option('--target <url>', 'URL of a running endpoint (live mode)')
    .option('--key <key>', 'key for the target')
    .option('--model <model>', 'model to request from the target')
    .option('--peer <name>', 'gateway to start in front of the mock upstream: a name, or a folder with a peer.yaml')
    .option(
      '--door <formats>',
      'caller formats, separated by commas (default: all; of a target, those of conversations)',
      formatsOf,
    )
    .option('--upstream <formats>', 'upstream formats, separated by commas (default: all)', formatsOf)
    .option('--only <id>', 'id of a cell or check; * matches anything')
    .option('--json <file>', 'file to write the results to')
    .option('--html <file>', 'file to write a page to, which needs no other file')
    .option('--junit <file>', 'file to write the results to as JUnit XML, for CI servers')
    .option('--markdown <file>', 'file to write a table and the failures to, as Markdown')
    .option('--badge <file>', 'file to write a badge to, for the endpoint of shields.io')
    .option('--expected-failures <file>', 'ids of checks that may fail, one per line, with a reason after #')
    .option('--delay <ms>', 'milliseconds to wait between cells', millisecondsOf)
    .option('--repeat <number>', 'how often every cell runs; one whose checks end differently fails as flaky', countOf)
    .option('--budget <usd>', 'cost in USD after which a live run ends, by the usage of its answers', dollarsOf)
    .option('--price <input/output>', 'price of the model for --budget, in USD per million tokens', priceOf)
    .action(async (options: ConformanceOptions) => {
      const { conformanceCommand } = await import('./conformance-run.ts')
      await conformanceCommand(options, terminal)
    })
  command
    .command('diff')
    .description('compare the results of two runs; exit code 1 if a check newly fails')
    .argument('<before>', 'results of the earlier run')
    .argument('<after>', 'results of the later run')
    .action(async (before: string, after: string) => {
      const { conformanceDiff } = await import('./conformance-diff.ts')
      conformanceDiff(before, after, terminal)
    })
}
