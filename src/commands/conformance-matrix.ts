import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Peer, peerNames, readPeer } from '../kit/conformance/peer.ts'
import { type Matrix, type PeerRow, peerRow } from '../kit/conformance/report/matrix.ts'
import { matrixHtml } from '../kit/conformance/report/matrix-html.ts'
import { matrixMarkdown, matrixSummary } from '../kit/conformance/report/matrix-markdown.ts'
import type { Results } from '../kit/conformance/report/results.ts'
import type { Specs } from '../kit/conformance/specs.ts'
import { version } from '../version.ts'
import { resultsIn } from './conformance-diff.ts'
import { peerResults } from './conformance-run.ts'
import { type Terminal, UsageError } from './outcome.ts'
import { checkReportFiles, writeReports } from './report-files.ts'

export interface MatrixOptions {
  readonly only?: string
  /** The format versions to test with. */
  readonly spec?: Specs
  /** Folder for the results of each peer. */
  readonly results?: string
  readonly json?: string
  readonly html?: string
  readonly markdown?: string
}

/**
 * Returns the row of a peer, from a file of results or by running the peer. Returns undefined if the peer's program is
 * not installed.
 */
async function rowOf(peerOrFile: string, options: MatrixOptions, terminal: Terminal): Promise<PeerRow | undefined> {
  if (peerOrFile.endsWith('.json')) {
    const results = resultsIn(peerOrFile)
    if (results.interrupted) throw new UsageError(`${peerOrFile} contains the results of an interrupted run`)
    if (results.target.peer === undefined) throw new UsageError(`${peerOrFile} does not contain the results of a peer`)
    return peerRow(readPeer(results.target.peer), results)
  }
  const peer = readPeer(peerOrFile)
  const { only, spec } = options
  const selection = { ...(only === undefined ? {} : { only }), ...(spec === undefined ? {} : { spec }) }
  const results = await peerResults({ peer: peerOrFile, ...selection })
  if (typeof results === 'string') {
    terminal.out(`unsupported: ${results}`)
    return undefined
  }
  saveResults(peer, results, options.results)
  return peerRow(peer, results)
}

/** Writes the results of a peer to the folder, if one is given. */
function saveResults({ name }: Peer, results: Results, folder: string | undefined): void {
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(results, null, 2)}\n`)
}

/** Output formats of the matrix, by the option that names the output file. */
const OUTPUT_FORMATS = [
  ['json', (matrix: Matrix) => `${JSON.stringify(matrix, null, 1)}\n`],
  ['html', matrixHtml],
  ['markdown', matrixMarkdown],
] as const

/** Reads a matrix that `--json` wrote. */
export const readMatrix = (file: string): Matrix => JSON.parse(readFileSync(file, 'utf8')) as Matrix

/** Returns the rows of a matrix that `--json` wrote, or undefined for any other argument. */
function earlierRows(peerOrFile: string): readonly PeerRow[] | undefined {
  if (!peerOrFile.endsWith('.json')) return undefined
  try {
    const matrix = readMatrix(peerOrFile)
    return matrix?.schema === MATRIX && Array.isArray(matrix.peers) ? matrix.peers : undefined
  } catch (thrown) {
    throw new UsageError(`${peerOrFile} cannot be read: ${(thrown as Error).message}`)
  }
}

const MATRIX = 'interlingua-conformance-matrix-1'

/**
 * `interlingua conformance matrix`: compares gateways. Each peer is given by name or as a file of its results. A file
 * of an earlier matrix gives the rows of all other peers. Without arguments, runs all peers of the kit. Failed checks
 * do not make the command fail.
 */
export async function conformanceMatrix(
  peersOrFiles: readonly string[],
  options: MatrixOptions,
  terminal: Terminal,
): Promise<void> {
  checkReportFiles(OUTPUT_FORMATS.flatMap(([name]) => options[name] ?? []))
  const rows = new Map<string, PeerRow>()
  for (const row of peersOrFiles.flatMap(one => earlierRows(one) ?? [])) rows.set(row.name, row)
  const named = peersOrFiles.filter(one => earlierRows(one) === undefined)
  for (const one of peersOrFiles.length > 0 ? named : peerNames()) {
    const row = await rowOf(one, options, terminal)
    if (row !== undefined) rows.set(row.name, row)
  }
  const peers = [...rows.values()]
  if (peers.length === 0) throw new Error('no peer could be run')
  const matrix: Matrix = { schema: MATRIX, kit: version(), peers }
  const faults = writeReports(
    OUTPUT_FORMATS.flatMap(([name, view]) => {
      const file = options[name]
      return file === undefined ? [] : [{ file, text: () => view(matrix) }]
    }),
  )
  terminal.out(matrixSummary(matrix).join('\n'))
  if (faults.length > 0) throw new Error(faults.join('\n'))
}
