import { type Cell, nameOf } from './cell.ts'
import { CLIENTS } from './clients/index.ts'
import { SCENARIOS, type Scenario, SESSIONS } from './scenarios.ts'
import { UPSTREAMS } from './upstreams/index.ts'
import type { Package } from './versions.ts'

export interface Choice {
  /** Every cell, and not only those of CI. */
  readonly all: boolean
  /** What names of cells must have, all of it. */
  readonly texts: readonly string[]
}

/** Client × upstream × scenario, in the order of the matrix. */
export function choose({ all, texts }: Choice): Cell[] {
  const cells = CLIENTS.flatMap(client =>
    UPSTREAMS.flatMap(upstream =>
      SCENARIOS.filter(({ name }) => (client.scenarios ?? SESSIONS).includes(name)).map(scenario => ({
        ...{ client, upstream, scenario },
      })),
    ),
  )
  const isWanted = all || texts.length > 0 ? () => true : isOfCi
  return cells.filter(cell => isWanted(cell) && texts.every(text => nameOf(cell).includes(text)))
}

/** Agents that start within a second or two. */
const QUICK: readonly Package[] = ['claude-code', 'codex', 'gemini-cli']
/** Libraries that take longer to start than to run. */
const SLOW: readonly Package[] = ['litellm']
/** Upstreams that insist on more than others do. */
const INSISTING = ['deepseek', 'responses', 'messages', 'gemini-3']

/** Frameworks in several languages and formats: of each scenario, only the upstreams that show most. */
const MANY: readonly Package[] = ['semantic-kernel', 'java', 'go', 'rust']
const SHOWING: { readonly [S in Scenario['name']]?: readonly string[] } = {
  session: ['deepseek', 'gemini-3'],
  // Both reason without being asked to.
  plain: ['deepseek', 'gemini-3'],
  errors: ['responses'],
}

/** What CI has the time for: quick agents whole, and of the others sessions before upstreams that insist on most. */
function isOfCi({ client, upstream, scenario }: Cell): boolean {
  if (MANY.includes(client.package)) return SHOWING[scenario.name]?.includes(upstream.name) === true
  if (QUICK.includes(client.package)) return true
  return !SLOW.includes(client.package) && scenario.cut === undefined && INSISTING.includes(upstream.name)
}
