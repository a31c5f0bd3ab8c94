import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'

/** Encodings by the first two bytes of a file. PowerShell and some editors of Windows write UTF-16. */
const MARKS: { readonly [mark: string]: string } = { fffe: 'utf-16le', feff: 'utf-16be' }

/**
 * Reads a text file in UTF-8, or in UTF-16 with a byte order mark.
 *
 * @throws Error of the file system, or one that names the first line that is no UTF-8: its letters would be lost.
 */
export function readTextFile(path: string): string {
  const bytes = readFileSync(path)
  const encoding = MARKS[bytes.toString('hex', 0, 2)]
  if (encoding !== undefined) return new TextDecoder(encoding).decode(bytes)
  if (!isUtf8(bytes)) throw new Error(`line ${lineOfFault(bytes)} is not in UTF-8: save the file in this encoding`)
  return bytes.toString('utf8')
}

const NEWLINE = 0x0a

/** Returns the number of the first line that is no UTF-8. */
function lineOfFault(bytes: Buffer): number {
  let start = 0
  for (let line = 1; ; line++) {
    const end = bytes.indexOf(NEWLINE, start)
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line
    start = end + 1
  }
}
