import type { Command } from 'commander'
import type { ImportCommandOptions } from './import-command.ts'
import type { Terminal } from './outcome.ts'
import { repeated } from './repeated.ts'

/** Adds the commands `recordings import` and `recordings export`. */
export function recordingFiles(program: Command, terminal: Terminal): void {
  const group = program.command('recordings').description('convert recordings from and to files of other tools')
  group
    .command('import')
    .description('write HAR files, cassettes of vcrpy, VCR, go-vcr and Polly.JS, and fixtures of aimock as recordings')
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
