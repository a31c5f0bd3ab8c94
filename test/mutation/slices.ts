import { createHash } from 'node:crypto'
import { type ESTree, parseSync } from 'vite'

/** Lines of a file that are mutated together. */
export interface Slice {
  readonly file: string
  /** Number of the first line, from 1. */
  readonly from: number
  /** Number of the last line. */
  readonly to: number
  /** First column of the first line, and the column after the last one of the last line, from 1. */
  readonly columns?: readonly [from: number, to: number]
}

/** Minimum length of a slice, in lines. Shorter neighbours are joined. */
const MIN_LINES = 8

/** Statements without code that a mutant could change. */
const WITHOUT_CODE = /^(?:Import|TSInterface|TSTypeAlias|ExportAll)/

/**
 * Cuts a module between its top-level statements and between the members of its classes, so that no mutant is cut. A
 * sample of slices is a sample of mutants.
 */
export function slicesOf(file: string, code: string): readonly Slice[] {
  const lineOf = lineFinder(code)
  const slices: { file: string; from: number; to: number }[] = []
  for (const { start, end } of parseSync(file, code).program.body.flatMap(piecesOf)) {
    const [from, to] = [lineOf(start), lineOf(end - 1)]
    const last = slices.at(-1)
    if (last !== undefined && (from <= last.to || last.to - last.from + 1 < MIN_LINES)) last.to = to
    else slices.push({ file, from, to })
  }
  return slices
}

/** Returns the members of a class, or the statement itself if it has code. */
function piecesOf(statement: ESTree.Statement | ESTree.ModuleDeclaration): readonly ESTree.Span[] {
  const inner =
    (statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration') &&
    statement.declaration !== null
      ? statement.declaration
      : statement
  if (WITHOUT_CODE.test(inner.type)) return []
  return inner.type === 'ClassDeclaration' ? inner.body.body : [statement]
}

/** Returns a function from offsets to numbers of lines. */
function lineFinder(code: string): (offset: number) => number {
  const starts = [0, ...[...code.matchAll(/\n/g)].map(({ index }) => index + 1)]
  return offset => starts.findLastIndex(start => start <= offset) + 1
}

/**
 * Returns `count` slices, which `seed` selects in a fixed random order. Successive seeds select successive slices, so
 * that seeds that count weeks reach every slice.
 */
export function sampleOf(slices: readonly Slice[], count: number, seed: number): readonly Slice[] {
  if (count >= slices.length) return slices
  const order = Map.groupBy(slices, ({ file }) => file)
    .values()
    .flatMap(ofFile => ofFile.map((slice, index) => ({ slice, key: hashOf(`${slice.file} ${index}`) })))
    .toArray()
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  const first = (((seed * count) % order.length) + order.length) % order.length
  return Array.from({ length: count }, (_, index) => order[(first + index) % order.length]!.slice)
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
