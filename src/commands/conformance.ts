import { type Command, InvalidArgumentError } from 'commander'
import { suggestion } from '../config/faults.ts'
import type { Price } from '../kit/conformance/budget.ts'
import { FORMATS } from '../kit/conformance/formats/index.ts'
import { SESSION_FORMATS } from '../kit/conformance/sockets/formats.ts'
import { type Specs, specsIn } from '../kit/conformance/specs.ts'
import type { MatrixOptions } from './conformance-matrix.ts'
import type { ConformanceOptions } from './conformance-run.ts'
import { oldOption, withNewNames } from './old-options.ts'
import type { Terminal } from './outcome.ts'

function formatsOf(text: string): string[] {
  const names = text.split(',')
  const formatNames = [...Object.keys(FORMATS), ...Object.keys(SESSION_FORMATS)]
  for (const name of names)
    if (!formatNames.includes(name))
      throw new InvalidArgumentError(
        `The kit has no format ${name}${suggestion(name, formatNames)} (${formatNames.join(', ')}).`,
      )
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

function specs(text: string): Specs {
  try {
    return specsIn(text)
  } catch (fault) {
    throw new InvalidArgumentError((fault as Error).message)
  }
}

const VERSIONS_HELP = 'versions of formats, such as messages@2026-10-21, separated by commas'
const ISOLATED_HELP =
  'run in a network namespace with only a loopback interface, so that a gateway reaches nobody (Linux)'

interface IsolationOption {
  readonly isolated?: boolean
}

/** Runs a command, either in this process or by running this process again in a namespace. Rejects if that fails. */
async function runMaybeIsolated(isIsolated: boolean | undefined, run: () => Promise<void>): Promise<void> {
  const { isInside, runIsolated } = await import('./isolated.ts')
  if (!isIsolated || isInside()) return run()
  const code = await runIsolated()
  if (code !== 0) throw new Error(`the isolated run exited with code ${code}`)
}

function matrix(command: Command, terminal: Terminal): void {
  command
    .command('matrix')
    .description('compare gateways: run peers, or read their results, and write a page')
    .argument(
      '[peers...]',
      'names or folders of peers, or files written with --json, also by an earlier matrix (default: all peers of the kit)',
    )
    .option('--only <id>', 'id of a cell or check; * matches anything')
    .option('--spec <versions>', VERSIONS_HELP, specs)
    .option('--results <folder>', 'folder to write the results of each peer to')
    .option('--json <file>', 'file to write the numbers of the page to')
    .option('--html <file>', 'file to write a self-contained page to')
    .option('--markdown <file>', 'file to write the page to, as Markdown')
    .option('--isolated', ISOLATED_HELP)
    .action(async (peers: string[], _: object, self: Command) => {
      // Options that `conformance` shares are parsed by `conformance`.
      const { isolated, ...options } = self.optsWithGlobals<MatrixOptions & IsolationOption>()
      await runMaybeIsolated(isolated, async () => {
        const { conformanceMatrix } = await import('./conformance-matrix.ts')
        await conformanceMatrix(peers, options, terminal)
      })
    })
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
      '--caller <formats>',
      'caller formats, separated by commas (default: all; of a target, those of conversations)',
      formatsOf,
    )
    .addOption(oldOption('--door', { argument: 'formats', parse: formatsOf, terminal }))
    .option('--upstream <formats>', 'upstream formats, separated by commas (default: all)', formatsOf)
    .option('--spec <versions>', VERSIONS_HELP, specs)
    .option('--only <id>', 'id of a cell or check; * matches anything')
    .option('--json <file>', 'file to write the results to')
    .option('--html <file>', 'file to write a self-contained page to')
    .option('--junit <file>', 'file to write the results to as JUnit XML, for CI servers')
    .option('--markdown <file>', 'file to write a table and the failures to, as Markdown')
    .option('--badge <file>', 'file to write a badge to, for the endpoint of shields.io')
    .option('--expected-failures <file>', 'ids of checks that may fail, one per line, with a reason after #')
    .option('--delay <ms>', 'milliseconds to wait between cells', millisecondsOf)
    .option('--repeat <number>', 'how often every cell runs; a cell with different outcomes fails as flaky', countOf)
    .option(
      '--budget <usd>',
      'cost in USD after which a live run ends, computed from the usage of its answers',
      dollarsOf,
    )
    .option('--price <input/output>', 'price of the model for --budget, in USD per million tokens', priceOf)
    .option('--isolated', ISOLATED_HELP)
    .action(async ({ isolated, ...options }: ConformanceOptions & IsolationOption) => {
      await runMaybeIsolated(isolated, async () => {
        const { conformanceCommand } = await import('./conformance-run.ts')
        await conformanceCommand(withNewNames(options), terminal)
      })
    })
  matrix(command, terminal)
  command
    .command('judge')
    .description('judge recorded exchanges by the rules of their formats; exit code 1 if a check fails')
    .argument('<recordings...>', 'files or folders of recordings, such as the console and `interlingua record` write')
    .action(async (paths: string[]) => {
      const { conformanceJudge } = await import('./conformance-judge.ts')
      conformanceJudge(paths, terminal)
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
