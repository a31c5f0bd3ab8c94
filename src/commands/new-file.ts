import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Writes a file that must not exist yet. If the disk is full, removes the part that was written, because a part of a
 * config could take effect at the next start.
 */
export function writeNewFile(path: string, text: string, mode = 0o666): void {
  const file = openSync(path, 'wx', mode)
  try {
    writeFileSync(file, text)
  } catch (thrown) {
    rmSync(path, { force: true })
    throw thrown
  } finally {
    closeSync(file)
  }
}
