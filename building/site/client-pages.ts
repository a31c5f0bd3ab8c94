import type { Client, Format, Snippet } from '../../console/src/pages/start/clients/client.ts'
import { CLIENTS } from '../../console/src/pages/start/clients/index.ts'
import { type Package, VERSIONS } from '../../test/agents/versions.ts'

/* Pages of docs/clients: one per client, with the settings that the console's Start page writes. */

/** The tested packages of a client, by set of `VERSIONS`. */
const TESTED: { readonly [client: string]: readonly (readonly [Package, string])[] } = {
  'claude-code': [['claude-code', '@anthropic-ai/claude-code']],
  codex: [['codex', '@openai/codex']],
  'gemini-cli': [['gemini-cli', '@google/gemini-cli']],
  opencode: [['opencode', 'opencode-ai']],
  openai: [
    ['python', 'openai'],
    ['go', 'github.com/openai/openai-go/v3'],
    ['java', 'com.openai:openai-java'],
  ],
  anthropic: [
    ['python', 'anthropic'],
    ['go', 'github.com/anthropics/anthropic-sdk-go'],
    ['java', 'com.anthropic:anthropic-java'],
  ],
  google: [
    ['python', 'google-genai'],
    ['go', 'google.golang.org/genai'],
    ['java', 'com.google.genai:google-genai'],
  ],
  'ai-sdk': [
    ['ai-sdk-7', 'ai'],
    ['ai-sdk-6', 'ai'],
  ],
  langchain: [
    ['python', 'langchain-openai'],
    ['python', 'langchain-anthropic'],
    ['python', 'langchain-google-genai'],
    ['langchain-js', '@langchain/core'],
  ],
  curl: [],
}

/** Guides to clients, with more than their settings. */
const GUIDES: { readonly [client: string]: string } = {
  ...{ 'claude-code': 'Claude Code on any model', codex: 'Codex on Claude or Gemini' },
  'gemini-cli': 'Gemini CLI on a local model',
}

/** The gateway, the key and the model in the settings of the pages. */
const FILLED = { base: 'http://127.0.0.1:4747', secret: 'il-…', model: 'MODEL' }

const HEADINGS: { readonly [F in Format]: string } = {
  ...{ chat: 'Chat Completions', responses: 'Responses', messages: 'Messages', contents: 'Gemini contents' },
}

/** Returns the page of a client. */
export function clientPage(client: Client): string {
  const { id, name, formats } = client
  const guide = GUIDES[id] === undefined ? [] : [`Guide: [${GUIDES[id]}](../guides/${id}.md).`]
  return [
    `# ${name}`,
    `${name} on any model: start the gateway ([start](../start.md)), and give the client its address, a key (\`interlingua keys create NAME\`) and a model of the gateway (\`MODEL\` below; \`/v1/models\` lists them).`,
    ...guide,
    testedText(client),
    ...formats.flatMap(format => [
      ...(formats.length === 1 ? [] : [`## ${HEADINGS[format]}`]),
      ...(client.languages ?? ['python' as const]).flatMap(language =>
        client.write({ ...FILLED, format, language }).map(snippetText),
      ),
    ]),
  ].join('\n\n')
}

const ROLES: { readonly [R in NonNullable<Snippet['role']>]: string } = {
  ...{ install: 'Install:', run: 'Run:', once: 'For one run:', always: 'For every run:', config: 'Settings:' },
}

function snippetText({ file, syntax, role, text }: Snippet): string {
  const label = role === undefined ? '' : ROLES[role]
  const heading = [label, file === undefined ? '' : `\`${file}\``].filter(Boolean).join(' ')
  return `${heading}\n\n\`\`\`${syntax === 'shell' ? 'sh' : syntax}\n${text.trimEnd()}\n\`\`\``.trimStart()
}

function testedText({ id, formats }: Client): string {
  const spoken = `It speaks ${formats.map(format => `\`${format}\``).join(', ')}.`
  const tested = TESTED[id] ?? []
  if (tested.length === 0) return spoken
  const versions = tested.map(([set, name]) => `${name} ${(VERSIONS[set] as { [name: string]: string })[name]}`)
  return `${spoken} Whole sessions with tools run in the tests with ${versions.join(', ')}.`
}

/** Returns the tested packages with their versions, by set. */
export function testedTable(): string {
  const rows = Object.entries(VERSIONS).map(([set, packages]) => {
    const versions = Object.entries(packages).map(([name, version]) => `${name} ${version}`)
    return `| ${set} | ${versions.join(', ')} |`
  })
  return `| Tests | Packages |\n|---|---|\n${rows.join('\n')}\n`
}

export { CLIENTS }
