import type { Format } from './format.ts'
import { FORMATS } from './formats/index.ts'
import type { Mode, Scenario } from './scenario.ts'
import { wireFor } from './scenario-files.ts'

/** One run of a scenario with a caller format, an upstream format and a mode. Live cells have no upstream. */
export interface Cell {
  /** `<caller>-<upstream>/<scenario>/<mode>`. Live: `<caller>/<scenario>/<mode>`. */
  readonly id: string
  readonly caller: Format
  readonly upstream: Format | undefined
  readonly scenario: Scenario
  readonly mode: Mode
}

export interface CellSelection {
  readonly scenarios: readonly Scenario[]
  readonly callers: readonly string[]
  /** Upstream formats. Absent in live mode. */
  readonly upstreams?: readonly string[]
  /** Text that the id of a cell or check must contain. `*` matches any characters. */
  readonly only?: string
}

const idOf = (caller: string, upstream: string | undefined, scenario: Scenario, mode: Mode): string =>
  `${upstream === undefined ? caller : `${caller}-${upstream}`}/${scenario.id}/${mode}`

/** Returns true if a pattern of `--only` matches the id of a cell or of a check within it. */
export function matches(pattern: string | undefined, id: string): boolean {
  if (pattern === undefined) return true
  const cell = pattern.split('/').slice(0, 3).join('/')
  const source = cell
    .split('*')
    .map(part => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${source}(/|$)`).test(id)
}

/** Returns the modes of a scenario for a format. Formats over sockets only have streams. */
const modesOf = ({ modes }: Scenario, { turns }: Format): readonly Mode[] =>
  turns === undefined ? modes : modes.filter(mode => mode === 'stream')

/** Returns true if callers of a format can express what the scenario tests. */
const canExpress = ({ name, files = name }: Format, { callers }: Scenario): boolean => callers?.includes(files) ?? true

/**
 * Returns all selected cells. The caller's format must support the scenario's kind of work. The upstream's format may
 * be for another kind of work if the scenario has files in that format. For example, a text completion may go to a chat
 * upstream.
 */
export function cellsOf({ scenarios, callers, upstreams, only }: CellSelection): Cell[] {
  const cells: Cell[] = []
  for (const caller of callers)
    for (const upstream of upstreams ?? [undefined])
      for (const scenario of scenarios)
        for (const mode of modesOf(scenario, FORMATS[caller]!)) {
          const id = idOf(caller, upstream, scenario, mode)
          const hasFiles = [caller, upstream ?? caller].every(
            format => wireFor(scenario.wires, FORMATS[format]!) !== undefined,
          )
          const isCaller = FORMATS[caller]!.work === scenario.work && canExpress(FORMATS[caller]!, scenario)
          if (!isCaller || !hasFiles || !matches(only, id)) continue
          const upstreamFormat = upstream === undefined ? undefined : FORMATS[upstream]!
          cells.push({ id, caller: FORMATS[caller]!, upstream: upstreamFormat, scenario, mode })
        }
  return cells
}
