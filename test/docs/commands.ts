import { globSync, readFileSync } from 'node:fs'
import { PAGES } from '../../building/site/pages.ts'

/* The shell commands of all pages, and what runs each of them. */

/** A command of a page. Lines that end with a backslash or within quotes are joined with the next one. */
export interface DocumentedCommand {
  readonly page: string
  readonly line: string
}

const pages: ReadonlyMap<string, string> = new Map([
  ...globSync(['*.md', 'docs/**/*.md']).map(page => [page, readFileSync(page, 'utf8')] as const),
  ...[...PAGES].map(([page, text]) => [`docs/${page}.md`, text] as const),
])

/** Every command of every page. */
export const COMMANDS: readonly DocumentedCommand[] = [...pages].flatMap(([page, text]) =>
  [...text.matchAll(/^( *)```sh\n([\s\S]*?)^ *```/gm)].flatMap(([, , block]) =>
    block!
      .replaceAll(/ +# .*$/gm, '')
      .replaceAll(/\\\n|\n(?=(?:[^']*'[^']*')*[^']*'[^']*$)/g, ' ')
      .split('\n')
      .map(line => line.trim())
      .filter(line => line !== '')
      .map(line => ({ page, line })),
  ),
)

/** The runner of a command: this folder's test, another file, or nothing for a reason. */
interface Runner {
  readonly command: RegExp
  readonly page?: RegExp
  readonly by: 'here' | `test/${string}` | `.ci/${string}` | { readonly nothing: string }
}

/** The first row whose patterns fit tells what runs a command. */
export const RUNNERS: readonly Runner[] = [
  { page: /docs\/clouds\//, command: /./, by: 'test/docs/clouds.test.ts' },
  { command: /^interlingua conformance /, by: 'test/kit/conformance/documented.test.ts' },
  { command: /^interlingua (?:record|replay) /, by: 'test/commands/record-replay.test.ts' },
  { command: /^npx interlingua record --refresh /, by: 'test/kit/recordings/refresh.test.ts' },
  { command: /^npm ci && npm start$|^npm start$/, by: 'test/first-start/main.ts' },
  { command: /^npm ci && npm test$/, by: '.ci/run' },
  { command: /^npm install (?:--save-dev )?interlingua$/, by: 'test/first-start/set-ups/package.ts' },
  { page: /clients|guides/, command: /^(?:export |claude$|codex$|gemini |opencode)/, by: 'test/agents/main.ts' },
  { page: /clients/, command: /^(?:pip|npm) install|^python|^node |^npx tsx/, by: 'test/agents/install.ts' },
  { page: /clients/, command: /^curl /, by: 'test/console/start/settings.test.ts' },
  {
    command: /docker/,
    by: { nothing: 'no container engine runs here; test/deploy checks the Dockerfile and compose' },
  },
  { command: /^helm install /, by: 'test/deploy/chart.test.ts' },
  { command: /OLD/, by: { nothing: 'the list of a new-api elsewhere; test/config/imports reads such lists' } },
  {
    page: /CONTRIBUTING/,
    command: /^npm run (?:console:dev|bench|demo|golden|bundle|console:shots)/,
    by: { nothing: 'for development; an edit, a look or a quiet machine decides' },
  },
  { page: /CONTRIBUTING/, command: /^npm run release/, by: 'test/building/release.test.ts' },
  { page: /CONTRIBUTING/, command: /^(?:npm |\.ci\/run)/, by: '.ci/run' },
  { page: /deployment/, command: /^interlingua --config [ab]\.yaml/, by: 'test/instances/instances.test.ts' },
  { command: /^(?:npx )?interlingua |^npm start -- |admin token/, by: 'here' },
  { command: /^(?:curl|IL=|ID=|while) |^export INTERLINGUA_KEY|^ID=|^IL=/, by: 'here' },
]

/** Returns the row of a command. */
export const runnerOf = ({ page, line }: DocumentedCommand): Runner | undefined =>
  RUNNERS.find(row => row.command.test(line) && (row.page?.test(page) ?? true))
