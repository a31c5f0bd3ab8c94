import type { Client } from './client.ts'
import { exported, literal } from './quote.ts'

/** Codex, configured by its TOML file. */
export const codex: Client = {
  ...{ id: 'codex', name: 'Codex', group: 'agents' },
  formats: ['responses'],
  write: ({ base, secret, model }) => [
    {
      role: 'config',
      file: '~/.codex/config.toml',
      syntax: 'toml',
      text: `model_provider = "interlingua"
model = ${literal(model)}

[model_providers.interlingua]
name = "Interlingua"
base_url = ${literal(`${base}/v1`)}
env_key = "INTERLINGUA_KEY"
wire_api = "responses"
supports_websockets = false
`,
    },
    { role: 'run', syntax: 'shell', text: `${exported({ INTERLINGUA_KEY: secret })}codex\n` },
  ],
}
