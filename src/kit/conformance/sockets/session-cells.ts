import { matches } from '../cells.ts'
import { SESSION_FORMATS } from './formats.ts'
import type { SessionFormat } from './session-format.ts'
import type { SessionScenario } from './session-scenario.ts'

/** One run of a session scenario with a caller format and an upstream format. Live cells have no upstream. */
export interface SessionCell {
  /** `<caller>-<upstream>/<scenario>/session`. Live: `<caller>/<scenario>/session`. */
  readonly id: string
  readonly caller: SessionFormat
  readonly upstream: SessionFormat | undefined
  readonly scenario: SessionScenario
  readonly mode: 'session'
}

export interface SessionSelection {
  readonly sessions: readonly SessionScenario[]
  readonly callers: readonly string[]
  /** Upstream formats. Absent in live mode. */
  readonly upstreams?: readonly string[]
  readonly only?: string
}

/**
 * Returns all selected sessions. A scenario runs between formats for which it has scripts. A scenario with a client
 * secret needs a caller whose format has client secrets.
 */
export function sessionCellsOf({ sessions, callers, upstreams, only }: SessionSelection): SessionCell[] {
  const cells: SessionCell[] = []
  for (const caller of callers)
    for (const upstream of upstreams ?? [undefined])
      for (const scenario of sessions) {
        const id = `${upstream === undefined ? caller : `${caller}-${upstream}`}/${scenario.id}/session`
        if (scenario.secret !== undefined && SESSION_FORMATS[caller]!.secrets === undefined) continue
        const hasScripts = [caller, upstream ?? caller].every(name => scenario.scripts[name] !== undefined)
        if (!hasScripts || !matches(only, id)) continue
        const upstreamFormat = upstream === undefined ? undefined : SESSION_FORMATS[upstream]!
        cells.push({ id, caller: SESSION_FORMATS[caller]!, upstream: upstreamFormat, scenario, mode: 'session' })
      }
  return cells
}
