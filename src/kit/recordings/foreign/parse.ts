import { LineCounter, parseDocument, type ScalarTag } from 'yaml'
import type { Path } from '../../../canonical/loss.ts'
import { lineFinder } from '../../../config/source.ts'
import { fileFault, parseJsonFile } from '../file.ts'

/** A parsed file: its value, and the line of each part. */
export interface Parsed {
  readonly value: unknown
  /** Returns the line of the value at a path, starting at 1. */
  lineOf(path: Path): number
}

/** Binary values as Ruby tags them. */
const BINARY_OF_RUBY: ScalarTag = {
  tag: '!binary',
  resolve: text => new Uint8Array(Buffer.from(text, 'base64')),
}

/**
 * Parses JSON, or YAML with `!!binary` or `!binary` values.
 *
 * @param file the name of the file, for errors.
 * @throws RecordingError with file and line.
 */
export function parseForeign(text: string, file: string): Parsed {
  // Finding a line parses the file again, so that it is done once, and only for a file with a fault.
  let finder: ((path: Path) => number) | undefined
  const lineOf = (path: Path): number => (finder ??= lineFinder(text))(path)
  // The YAML parser also accepts JSON, but is slow for large files.
  if (/^\s*[[{]/.test(text)) return { value: parseJsonFile(text, file), lineOf }
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    customTags: ['binary', BINARY_OF_RUBY],
    prettyErrors: false,
  })
  const [first] = document.errors
  if (first !== undefined) throw fileFault(file, first.message, [], lines.linePos(first.pos[0]).line)
  try {
    return { value: document.toJS(), lineOf }
  } catch (thrown) {
    throw fileFault(file, (thrown as Error).message)
  }
}
