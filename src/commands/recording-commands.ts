import { type Command, InvalidArgumentError } from 'commander'
import type { ImportCommandOptions } from './import-command.ts'
import type { Terminal } from './outcome.ts'
import { portOf } from './ports.ts'
import type { RecordOptions } from './record-command.ts'
import type { ReplayCommandOptions } from './replay.ts'

/** Adds the commands `record`, `replay` and `recordings`. */
export function recordings(program: Command, terminal: Terminal): void {
  files(program, terminal)
  program
    .command('record')
    .description('pass requests to an upstream and record them in a folder')
    .argument('<folder>', 'folder of the recordings')
    .requiredOption('--upstream <url>', 'base URL of the upstream')
    .option('--host <host>', 'host to listen on', '127.0.0.1')
    .option('--listen <port>', 'port to listen on', portOf, 4749)
    .option('--redact <rule>', 'remove a field (metadata.user_id) or matches (/expression/); repeatable', repeated, [])
    .option('--ignore <rule>', 'leave a field or matches out of the comparison; repeatable', repeated, [])
    .action(async (folder: string, options: RecordOptions) => {
      const { recordCommand } = await import('./record-command.ts')
      await recordCommand(folder, options, terminal)
    })
  program
    .command('replay')
    .description('answer requests of any format from a folder of recordings, or serve fixtures as a mock upstream')
    .argument('<folder>', 'folder of recordings, or of <format>/<case>.{request.json,result.json,events.sse}')
    .option('--host <host>', 'host to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on', portOf, 4748)
    .option('--ignore <rule>', 'leave a field or matches out of the comparison; repeatable', repeated, [])
    .option('--timing <speed>', 'real, fast, or a factor such as 4x', speedOf, 0)
    .option('--strict', 'report recordings that nobody requested, and exit with 1')
    .action(async (folder: string, options: ReplayCommandOptions) => {
      const { replayCommand } = await import('./replay.ts')
      await replayCommand(folder, options, terminal)
    })
}

/** Adds the commands that convert files of other tools. */
function files(program: Command, terminal: Terminal): void {
  const group = program.command('recordings').description('convert recordings from and to files of other tools')
  group
    .command('import')
    .description('write HAR files, cassettes of vcrpy and Polly.JS, and fixtures of aimock as recordings')
    .argument('<folder>', 'folder of the recordings')
    .argument('<files...>', 'files to import; JSON or YAML, also compressed with gzip')
    .option('--redact <rule>', 'remove a field (metadata.user_id) or matches (/expression/); repeatable', repeated, [])
    .option('--ignore <rule>', 'leave a field or matches out of the comparison; repeatable', repeated, [])
    .action(async (folder: string, files: readonly string[], options: ImportCommandOptions) => {
      const { importCommand } = await import('./import-command.ts')
      await importCommand(folder, files, options, terminal)
    })
  group
    .command('export')
    .description('write a folder of recordings as a HAR file')
    .argument('<folder>', 'folder of the recordings')
    .argument('<file>', 'HAR file')
    .action(async (folder: string, file: string) => {
      const { exportCommand } = await import('./import-command.ts')
      exportCommand(folder, file, terminal)
    })
}

/** Parses a speed: 0 waits for nothing. */
function speedOf(text: string): number {
  if (text === 'fast') return 0
  if (text === 'real') return 1
  const factor = Number(/^(\d+(?:\.\d+)?)[x×]$/.exec(text)?.[1])
  if (factor > 0) return factor
  throw new InvalidArgumentError('Expected real, fast, or a factor such as 4x.')
}

const repeated = (rule: string, before: readonly string[]): readonly string[] => [...before, rule]
