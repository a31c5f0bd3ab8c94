import { join } from 'node:path'
import type { Package } from '../../agents/versions.ts'

/** Folder with the repository's own packages. */
const OWN = join(import.meta.dirname, '../../../node_modules')

/** One run of a client with one of its settings. */
export interface Run {
  readonly client: string
  readonly format: string
  /** Package of `test/agents` with the client. Undefined if it is installed anyway. */
  readonly from?: Package
  /** Script that replaces the client's program: the real program with a prompt. */
  readonly programs?: (folder: string) => { readonly [name: string]: string }
  /** Script to run instead of the terminal snippets. */
  readonly run?: (folder: string) => string
  readonly modules?: (folder: string) => string
  /** Role of the snippets to use, if one of several is enough. */
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
  // In chat, the built-in upstream calls a custom tool, which the client's chat package cannot read.
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
