import { join } from 'node:path'
import type { Package } from '../../agents/versions.ts'

/** What this repository's own tests have. */
const OWN = join(import.meta.dirname, '../../../node_modules')

/** One client with one of its settings, and how it is run with them. */
export interface Run {
  readonly client: string
  readonly format: string
  /** The package of `test/agents` it comes in; without one it is there anyway. */
  readonly from?: Package
  /** What stands for the client's program: the real one, with a question. */
  readonly programs?: (folder: string) => { readonly [name: string]: string }
  /** What is run instead of the texts for terminals. */
  readonly run?: (folder: string) => string
  readonly modules?: (folder: string) => string
  /** Texts by their role, where one of several is enough. */
  readonly role?: string
  readonly language?: 'Python' | 'TypeScript'
}

const FORMATS = ['chat', 'responses', 'messages', 'contents'] as const

const claude = (folder: string): string =>
  `exec ${folder}/node_modules/@anthropic-ai/claude-code-linux-${process.arch}/claude -p "Say hello."`

const javascript = (client: string, format: string, from?: Package): Run => ({
  ...{ client, format, language: 'TypeScript' },
  run: () => `${process.execPath} hello.ts`,
  modules: folder => (from === undefined ? OWN : join(folder, 'node_modules')),
  ...(from === undefined ? {} : { from }),
})

const python = (client: string, format: string): Run => ({
  ...{ client, format, language: 'Python', from: 'python' },
  run: folder => `${folder}/bin/python hello.py`,
})

export const RUNS: readonly Run[] = [
  ...FORMATS.map(format => ({ client: 'curl', format })),
  {
    ...{ client: 'Claude Code', format: 'messages', from: 'claude-code', role: 'once' },
    programs: folder => ({ claude: claude(folder) }),
  },
  {
    ...{ client: 'Claude Code', format: 'messages', from: 'claude-code', role: 'always' },
    run: claude,
  },
  {
    ...{ client: 'Codex', format: 'responses', from: 'codex' },
    programs: folder => ({
      codex: `exec ${folder}/node_modules/@openai/codex-linux-${process.arch}/vendor/*/bin/codex exec --skip-git-repo-check "Say hello." </dev/null`,
    }),
  },
  {
    ...{ client: 'Gemini CLI', format: 'contents', from: 'gemini-cli' },
    programs: folder => ({
      gemini: `GEMINI_CLI_TRUST_WORKSPACE=true exec ${process.execPath} ${folder}/node_modules/@google/gemini-cli/bundle/gemini.js "$@" -p "Say hello."`,
    }),
  },
  // The built-in upstream answers its tools in chat with a custom one, which its package for chat does not read.
  ...FORMATS.filter(format => format !== 'chat').map(
    (format): Run => ({
      ...{ client: 'opencode', format, from: 'opencode' },
      programs: folder => ({
        opencode: `OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_AUTOUPDATE=1 exec ${folder}/node_modules/opencode-linux-${process.arch}/bin/opencode run "$@" "Say hello."`,
      }),
    }),
  ),
  ...(['responses', 'chat'] as const).flatMap(format => [
    javascript('OpenAI SDK', format),
    python('OpenAI SDK', format),
  ]),
  ...[javascript('Anthropic SDK', 'messages'), python('Anthropic SDK', 'messages')],
  ...[javascript('Google Gen AI SDK', 'contents'), python('Google Gen AI SDK', 'contents')],
  ...FORMATS.map(format => javascript('AI SDK', format)),
  ...FORMATS.flatMap(format => [javascript('LangChain', format, 'langchain-js'), python('LangChain', format)]),
]
