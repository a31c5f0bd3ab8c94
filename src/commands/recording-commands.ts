import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Fault, parseFaults } from '../kit/recordings/faults.ts'
import { oldOption, withNewNames } from './old-options.ts'
import type { Terminal } from './outcome.ts'
import { portOf } from './ports.ts'
import type { RecordOptions } from './record-command.ts'
import { recordingFiles } from './recording-file-commands.ts'
import { repeated } from './repeated.ts'
import type { ReplayCommandOptions } from './replay.ts'

/** Adds the commands `record`, `replay` and `recordings`. */
export function recordings(program: Command, terminal: Terminal): void {
  recordingFiles(program, terminal)
  program
    .command('record')
    .description('pass requests to an upstream and record them in a folder')
    .argument('<folder>', 'folder of the recordings')
    .requiredOption('--upstream <url>', 'base URL of the upstream')
    .option('--host <host>', 'host to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on', portOf, 4749)
    .addOption(oldOption('--listen', { argument: 'port', parse: portOf, terminal }))
    .option('--redact <rule>', 'remove a field (metadata.user_id) or matches (/expression/); repeatable', repeated, [])
    .option('--ignore <rule>', 'leave a field or matches out of the comparison; repeatable', repeated, [])
    .option('--refresh', 'record the answers of the folder again, show changes in their shape, and exit with 1 if any')
    .option('--key <key>', 'key for the upstream, with --refresh')
    .action(async (folder: string, options: RecordOptions) => {
      const { recordCommand } = await import('./record-command.ts')
      await recordCommand(folder, withNewNames(options), terminal)
    })
  program
    .command('replay')
    .description('answer requests of any format from a folder of recordings')
    .argument('<folder>', 'folder of recordings')
    .option('--host <host>', 'host to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on', portOf, 4748)
    .addOption(oldOption('--listen', { argument: 'port', parse: portOf, terminal }))
    .option('--ignore <rule>', 'leave a field or matches out of the comparison; repeatable', repeated, [])
    .addOption(
      new Option('--timing <speed>', 'real, fast, or a factor such as 4x').argParser(speedOf).default(0, 'fast'),
    )
    .option('--fault <list>', 'faults on demand with their rates, such as 429:0.1,cut:0.05,stall:2s:0.02', faultsOf, [])
    .option('--seed <number>', 'seed for the faults: runs with the same seed have the same faults', seedOf, 0)
    .addOption(
      new Option('--on-miss <action>', 'what to do with a request without a recording')
        .choices(['fail', 'record', 'upstream'])
        .default('fail'),
    )
    .option('--upstream <url>', 'base URL to which --on-miss record and upstream pass requests')
    .option('--redact <rule>', 'remove a field or matches from what --on-miss records; repeatable', repeated, [])
    .option('--strict', 'report recordings that nobody requested, and exit with 1')
    .action(async (folder: string, options: ReplayCommandOptions) => {
      const { replayCommand } = await import('./replay.ts')
      await replayCommand(folder, withNewNames(options), terminal)
    })
}

function faultsOf(text: string): readonly Fault[] {
  try {
    return parseFaults(text)
  } catch (thrown) {
    throw new InvalidArgumentError((thrown as Error).message)
  }
}

function seedOf(text: string): number {
  const seed = Number(text)
  if (Number.isSafeInteger(seed)) return seed
  throw new InvalidArgumentError('Expected a whole number.')
}

/** Parses a speed. 0 means no waiting. */
function speedOf(text: string): number {
  if (text === 'fast') return 0
  if (text === 'real') return 1
  const factor = Number(/^(\d+(?:\.\d+)?)[x×]$/.exec(text)?.[1])
  if (factor > 0) return factor
  throw new InvalidArgumentError('Expected real, fast, or a factor such as 4x.')
}
