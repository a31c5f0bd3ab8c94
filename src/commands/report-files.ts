import { randomUUID } from 'node:crypto'
import { existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { UsageError } from './outcome.ts'

/** A file for a report, and the text to write. */
export interface ReportFile {
  readonly file: string
  text(): string
}

/**
 * Checks the files of reports before a run, whose results would be lost otherwise.
 *
 * @throws UsageError for a file in a folder that does not exist, or that is itself a folder.
 */
export function checkReportFiles(files: readonly string[]): void {
  for (const file of files) {
    if (!existsSync(dirname(file))) throw new UsageError(`${file}: there is no such folder`)
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) throw new UsageError(`${file} is a folder`)
  }
}

/** Writes all files that can be written. Returns the faults of the others. */
export function writeReports(reports: readonly ReportFile[]): readonly string[] {
  return reports.flatMap(({ file, text }) => {
    try {
      replaceFile(file, text())
      return []
    } catch (thrown) {
      return [`${file} cannot be written: ${(thrown as Error).message}`]
    }
  })
}

/** Writes a file as a whole or not at all. A device or a pipe, such as `/dev/stdout`, is written directly. */
function replaceFile(file: string, text: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) return writeFileSync(file, text)
  const path = existsSync(file) ? realpathSync(file) : file
  const partial = `${path}.${randomUUID()}.partial`
  try {
    writeFileSync(partial, text)
    renameSync(partial, path)
  } finally {
    rmSync(partial, { force: true })
  }
}
