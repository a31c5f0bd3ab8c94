import { readFileSync, statSync } from 'node:fs'

/** Maximum size of a file with a credential or a certificate, in bytes. */
const MAX_SIZE = 4 * 1024 * 1024

/**
 * Reads a file with a credential or a certificate. Refuses pipes and devices, because reading them may take for ever.
 *
 * @throws Error whose message is the end of a sentence about the file, such as `cannot be read: ENOENT`.
 */
export function readCredentialFile(path: string): string {
  const stats = readable(() => statSync(path))
  if (!stats.isFile()) throw new Error('is no regular file')
  if (stats.size > MAX_SIZE) throw new Error(`is too large: ${stats.size} bytes; it may have at most ${MAX_SIZE}`)
  return readable(() => readFileSync(path, 'utf8'))
}

function readable<T>(read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    throw new Error(`cannot be read: ${(thrown as NodeJS.ErrnoException).code}`)
  }
}
