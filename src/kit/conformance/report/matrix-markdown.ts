import type { Matrix, PeerRow, Totals } from './matrix.ts'

/* Writes the matrix as `docs/conformance.md`. */

const HEADINGS = ['cells without a failure', 'kept', 'lost, reported', 'lost silently', 'changed', 'rules broken']

/** Formats a share in percent. Rounding never yields 0 or 100 for shares in between. */
export function percent(part: number, total: number): string {
  if (total === 0) return '–'
  if (part === 0 || part === total) return `${(100 * part) / total} %`
  return `${Math.min(99.9, Math.max(0.1, (100 * part) / total)).toFixed(1)} %`
}

function fieldsOf(totals: Totals): string[] {
  const { cells, passed, kept, lostReported, lostSilently, changed, rules, broken } = totals
  if (cells === 0) return ['unsupported', ...HEADINGS.slice(1).map(() => '–')]
  const facts = kept + lostReported + lostSilently + changed
  const parts = [kept, lostReported, lostSilently, changed].map(part => percent(part, facts))
  return [`${passed} of ${cells}`, ...parts, percent(broken, rules)]
}

const rowOf = (fields: readonly string[]): string => `| ${fields.join(' | ')} |`

const table = (first: readonly string[], rows: readonly (readonly string[])[]): string[] => {
  const heads = [...first, ...HEADINGS]
  return [
    rowOf(heads),
    `|${heads.map((_, index) => (index < first.length ? '---|' : '--:|')).join('')}`,
    ...rows.map(rowOf),
  ]
}

const nameOf = ({ title, version }: PeerRow): string => (version === undefined ? title : `${title} ${version}`)

const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function sectionOf(peer: PeerRow): string[] {
  const { name, date, pairs, failures, about } = peer
  const unclaimed = pairs.filter(({ cells }) => cells === 0).map(({ caller, upstream }) => `${caller} to ${upstream}`)
  const judged = pairs.filter(({ cells }) => cells > 0)
  return [
    `## ${nameOf(peer)}`,
    '',
    `${about === undefined ? '' : `${about.trim()} `}Run on ${date}, configured by [conformance/peers/${name}](../conformance/peers/${name}).`,
    '',
    ...table(
      ['caller', 'upstream'],
      judged.map(pair => [pair.caller, pair.upstream, ...fieldsOf(pair)]),
    ),
    '',
    ...(unclaimed.length === 0 ? [] : [`Unsupported: ${unclaimed.join(', ')}.`, '']),
    ...(failures.length === 0
      ? []
      : ['The most widespread failures, each with a command that reproduces one case:', '']),
    ...failures.slice(0, 8).map(one => `- ${one.cells} cells: ${escaped(one.says)} \`${one.command}\``),
    ...(failures.length === 0 ? [] : ['']),
  ]
}

/** Returns the summary for the README, with one line per peer. */
export const matrixSummary = ({ peers }: Matrix): string[] =>
  table(
    ['gateway'],
    peers.map(peer => [nameOf(peer), ...fieldsOf(peer.total)]),
  )

/** Says which rows are older than others, because each kit is stricter than the one before. */
function datesNote({ peers }: Matrix): string[] {
  const newest = peers
    .map(({ date }) => date)
    .sort()
    .at(-1)
  const older = peers.filter(({ date }) => date !== newest).map(({ title, date }) => `${title} (${date})`)
  if (older.length === 0) return []
  return [
    `An earlier, more lenient kit judged ${older.join(', ')}, so that their numbers cannot be compared in every rule.`,
    '',
  ]
}

/** Returns the matrix as a Markdown page. */
export const matrixMarkdown = (matrix: Matrix): string =>
  [
    '# Conformance of gateways',
    '',
    `The matrix shows how gateways change requests and answers. The [conformance kit](conformance-kit.md) (version ${matrix.kit}) plays the caller and the upstream, sends each scenario in each caller format to each upstream format, whole and streamed, and compares what went in with what came out. This page is generated. There is a [more detailed version](conformance.html).`,
    '',
    ...matrixSummary(matrix),
    '',
    '**Kept, lost, changed** are shares of facts: texts, tool calls and their arguments, settings, images by digest, reasoning, usage, finish reasons. A fact is lost with a report if the gateway names it in a header. Facts that the upstream’s format cannot express count too, because a gateway can report them. **Rules** are those of the formats (schemas, order of events, statuses), each with a public source. Pairs of formats that a gateway does not support are not counted.',
    '',
    'Every gateway runs as its own documentation configures it, from the folder that its section links. The kit is written by the authors of one of them: Interlingua. To repeat a run, install the gateway and run `interlingua conformance --peer NAME`; every failure is printed with its rule, its source and both sides of the wire. To correct a configuration or a verdict, edit the folder or the rule and submit the change, naming the cell that it fixes. If a real provider breaks a rule, the rule is wrong.',
    '',
    ...datesNote(matrix),
    'To regenerate this page: `interlingua conformance matrix --markdown docs/conformance.md --html docs/conformance.html --json docs/conformance.json`.',
    '',
    ...matrix.peers.flatMap(sectionOf),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n')
