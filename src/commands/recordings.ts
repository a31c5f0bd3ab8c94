import type { Command } from 'commander'
import type { Terminal } from './outcome.ts'
import { portOf } from './ports.ts'
import type { RecordOptions } from './record.ts'

/** Adds the commands `record` and `replay`. */
export function recordings(program: Command, terminal: Terminal): void {
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
      const { recordCommand } = await import('./record.ts')
      await recordCommand(folder, options, terminal)
    })
  program
    .command('replay')
    .description('serve a folder of fixtures as a mock upstream')
    .argument('<folder>', 'folder with <format>/<case>.{request.json,result.json,events.sse}')
    .option('--host <host>', 'host to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on', portOf, 4748)
    .action(async (folder: string, { host, port }: { host: string; port: number }) => {
      const { replayCommand } = await import('./replay.ts')
      await replayCommand(folder, host, port, terminal)
    })
}

const repeated = (rule: string, before: readonly string[]): readonly string[] => [...before, rule]
