import { type Cell, nameOf } from './cell.ts'
import { CLIENTS } from './clients/index.ts'
import { SCENARIOS, type Scenario, SESSIONS } from './scenarios.ts'
import { UPSTREAMS } from './upstreams/index.ts'
import type { Package } from './versions.ts'

export interface Choice {
  /** Whether every cell runs, and not only those of CI. */
  readonly all: boolean
  /** Strings that the name of a cell must contain, all of them. */
  readonly texts: readonly string[]
}

/** Returns client × upstream × scenario, in the order of the matrix. */
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

/** Agents that start within two seconds. */
const QUICK: readonly Package[] = ['claude-code', 'codex', 'gemini-cli']
/** Libraries that take longer to start than to run. */
const SLOW: readonly Package[] = ['litellm']
/** Upstreams with the strictest checks. */
const INSISTING = ['deepseek', 'responses', 'messages', 'gemini-3']
/** Upstreams that few clients run before, because others are as strict. */
const RARE: { readonly [upstream: string]: readonly string[] } = {
  converse: ['claude-code', 'codex', 'gemini-cli', 'boto3'],
  'plain-responses': ['codex', 'codex-ws', 'copilot-responses'],
}

/** Frameworks and agents in several languages and formats. Of each scenario, only the most informative upstreams run. */
const MANY: readonly Package[] = [
  'qwen-code',
  'copilot',
  'pi',
  'agno',
  'ai-sdk-vendors',
  'aws-python',
  'clouds-js',
  'semantic-kernel',
  'java',
  'go',
  'rust',
]
/** Clients that are set up for a cloud. */
const AT_CLOUD = /-(?:bedrock|vertex|foundry)$/
const SHOWING: { readonly [S in Scenario['name']]?: readonly string[] } = {
  session: ['deepseek', 'gemini-3'],
  // Both reason without a request to do so.
  plain: ['deepseek', 'gemini-3'],
  errors: ['responses'],
}

/**
 * Whether a cell runs in CI: all cells of quick agents, and for other clients only sessions with the strictest
 * upstreams.
 */
function isOfCi({ client, upstream, scenario }: Cell): boolean {
  const few = RARE[upstream.name]
  if (few !== undefined) return scenario.name === 'session' && few.includes(client.name)
  if (MANY.includes(client.package) || AT_CLOUD.test(client.name))
    return SHOWING[scenario.name]?.includes(upstream.name) === true
  if (QUICK.includes(client.package)) return true
  return !SLOW.includes(client.package) && scenario.cut === undefined && INSISTING.includes(upstream.name)
}
