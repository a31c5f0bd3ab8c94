import { globSync } from 'node:fs'
import { join } from 'node:path'
import { PROMPT } from '../scenarios.ts'
import type { Client, ToolUse } from './client.ts'

/*
 * Codex: the responses format. With a model that it knows, all its tools are scripts of one custom tool. Otherwise it
 * has a shell.
 */

interface Way {
  readonly name: string
  readonly model: string
  readonly sockets: boolean
}

/** Returns a shell command that writes a file with any content. */
const writing = (path: string, content: string): string => `cat > '${path}' <<'END_OF_FILE'\n${content}END_OF_FILE`

const script = (cmd: string): ToolUse => ({
  tool: 'exec',
  input: `const result = await tools.exec_command(${JSON.stringify({ cmd })});\ntext(result.output);\n`,
})
const shell = (cmd: string): ToolUse => ({ tool: 'exec_command', arguments: { cmd } })

const SCRIPTS = { use: script, tools: ['exec', 'wait', 'sleep', 'spawn_agent', 'list_agents'] }
const SHELL = { use: shell, tools: ['exec_command', 'write_stdin', 'view_image', 'spawn_agent'] }

function codex({ name, model, sockets }: Way, { use, tools }: typeof SCRIPTS): Client {
  return {
    name,
    package: 'codex',
    model,
    tools,
    ...(sockets ? { socket: true } : {}),
    read: path => use(`cat '${path}'`),
    write: (path, content) => use(writing(path, content)),
    command: ({ home, address, key }, installed) => ({
      run: [
        globSync(join(installed, 'node_modules/@openai/codex-linux-*/vendor/*/bin/codex'))[0]!,
        ...['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', PROMPT],
      ],
      env: { CODEX_HOME: join(home, '.codex'), IL_KEY: key },
      files: {
        [join(home, '.codex/config.toml')]: `
model_provider = "il"
model = "${model}"
model_reasoning_effort = "medium"
model_reasoning_summary = "auto"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.il]
name = "il"
base_url = "${address}/v1"
env_key = "IL_KEY"
wire_api = "responses"
supports_websockets = ${sockets}
`,
      },
    }),
  }
}

/** Default model of Codex. */
const KNOWN = 'gpt-6.1-sol'

export const codexHttp = codex({ name: 'codex', model: KNOWN, sockets: false }, SCRIPTS)
export const codexSocket = codex({ name: 'codex-ws', model: KNOWN, sockets: true }, SCRIPTS)
export const codexUnknown = codex({ name: 'codex-unknown', model: 'own-model', sockets: false }, SHELL)
