import { existsSync, writeFileSync } from 'node:fs'
import { readFolder } from '../kit/recordings/folder.ts'
import { harText } from '../kit/recordings/foreign/har-export.ts'
import { importFile } from '../kit/recordings/foreign/import-file.ts'
import { counted } from './counted.ts'
import { type Terminal, UsageError } from './outcome.ts'

export interface ImportCommandOptions {
  readonly redact: readonly string[]
  readonly ignore: readonly string[]
}

/**
 * `interlingua recordings import DIR FILE…`: converts files of other tools to recordings.
 *
 * @throws RecordingError with file and line for a faulty file. Earlier files are then already imported.
 */
export async function importCommand(
  folder: string,
  files: readonly string[],
  { redact, ignore }: ImportCommandOptions,
  terminal: Terminal,
): Promise<void> {
  let count = 0
  for (const file of files) {
    if (!existsSync(file)) throw new UsageError(`${file}: there is no such file`)
    count += await importFile(file, {
      ...{ folder, redact, ignore },
      onSkipped: message => terminal.fault(`skipped ${message}`),
    })
  }
  terminal.out(`Imported ${counted(count, 'recording')} into ${folder}`)
}

/** `interlingua recordings export DIR FILE`: writes a folder of recordings as a HAR file. */
export function exportCommand(folder: string, file: string, terminal: Terminal): void {
  const recordings = readFolder(folder)
  writeFileSync(file, harText(recordings))
  terminal.out(`Exported ${counted(recordings.length, 'recording')} to ${file}`)
}
