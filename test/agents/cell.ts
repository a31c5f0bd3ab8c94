import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FakeUpstream } from '../builders/upstream.ts'
import type { Client } from './clients/client.ts'
import { CALLER_KEY, openGateway } from './gateway.ts'
import { Play } from './play.ts'
import { runProgram } from './program.ts'
import { NOTES, type Scenario } from './scenarios.ts'
import { Tap } from './tap.ts'
import type { StrictUpstream } from './upstreams/strict.ts'
import { faultsOf } from './verdict.ts'
import { writeDown } from './written-down.ts'

/** One client with one upstream in one scenario. */
export interface Cell {
  readonly client: Client
  readonly upstream: StrictUpstream
  readonly scenario: Scenario
}

export interface Outcome {
  readonly cell: Cell
  /** Faults of the run, the most important first. Empty if there are none. */
  readonly faults: readonly string[]
  readonly seconds: number
}

export const nameOf = ({ client, upstream, scenario }: Cell): string =>
  `${client.name} × ${upstream.name} × ${scenario.name}`

/** Returns the model that the client requests. */
export const modelOf = ({ client, upstream }: Cell): string => client.modelAt?.[upstream.name] ?? client.model

/** Maximum time of a client, in seconds. Clients retry broken answers, some of them slowly. */
const PATIENCE = 60

/**
 * Runs a cell in a temporary folder.
 *
 * @param keep folder for the exchanges of a failed cell.
 */
export async function runCell(cell: Cell, installed: string, keep: string): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), 'interlingua-agents-'))
  const [home, work] = [join(dir, 'home'), join(dir, 'work')]
  for (const folder of [home, work]) mkdirSync(folder)
  for (const [name, content] of Object.entries(NOTES)) writeFileSync(join(work, name), content)
  const { client, upstream, scenario } = cell
  const play = new Play(upstream, client, scenario, work)
  const server = await FakeUpstream.open((response, seen) => play.answer(response, seen))
  const gateway = await openGateway(cell, server.address, join(dir, 'data'))
  const tap = await Tap.open(gateway.server.address)
  const place = { home, work, address: tap.address, key: CALLER_KEY, model: modelOf(cell), scenario: scenario.name }
  try {
    const ran = await runProgram(client.command(place, installed), home, work, PATIENCE)
    const faults = faultsOf(cell, { play, ran, work, tap, seen: server.seen })
    if (faults.length > 0)
      writeDown(join(keep, nameOf(cell).replaceAll(' × ', '.')), { faults, play, ran, tap, lines: gateway.lines })
    return { cell, faults, seconds: ran.seconds }
  } finally {
    tap.close()
    await gateway.server.close(0)
    await server.close()
    rmSync(dir, { recursive: true, force: true })
  }
}
