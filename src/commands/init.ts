import { environmentChannels, keyVariable, unusedKeys } from '../config/environment.ts'
import type { ChannelConfig } from '../config/index.ts'
import { PRESETS } from '../formats/index.ts'
import { writeNewFile } from './new-file.ts'
import { program, type Terminal, UsageError } from './outcome.ts'

/**
 * `interlingua init`: writes a commented config, with a channel for each provider whose key is in the environment.
 *
 * @param output file for the config, which must not exist yet.
 */
export function initCommand(output: string, terminal: Terminal, env: NodeJS.ProcessEnv = process.env): void {
  const channels = environmentChannels(env)
  try {
    writeNewFile(output, configOf(channels, env))
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
    throw new UsageError(`${output} already exists; name another file with --output`)
  }
  const names = channels.map(({ name }) => name).join(', ')
  terminal.out(`Wrote ${output} with ${channels.length === 1 ? 'the channel' : 'the channels'} ${names}.`)
  for (const { key, missing } of unusedKeys(env)) terminal.out(`${key} is unused: set ${missing.join(' and ')}.`)
  terminal.out(`Next: \`${program()} doctor\` checks it, and \`${program()}\` starts the gateway.`)
}

/** Returns the text of the config. */
function configOf(channels: readonly ChannelConfig[], env: NodeJS.ProcessEnv): string {
  const lines = channels.flatMap(({ name }) => {
    const variable = keyVariable(PRESETS.get(name)!, env)
    return [
      `  - name: ${name}`,
      `    provider: ${name}`,
      ...(variable === undefined ? [] : [`    key: \${${variable}}`]),
      name === 'replay'
        ? '    # Answers every endpoint without a provider. Replace it with a provider of your own.'
        : '    models: ["*"]          # all models it lists; or a list, or { name: its-name }',
    ]
  })
  return `# Every field with its default: interlingua.example.yaml. Check this file with \`interlingua check\`.

server:
  host: 127.0.0.1          # 0.0.0.0 to accept connections from other machines
  port: 4747

groups:                    # permissions and limits of keys
  default:
    models: ["*"]
    rpm: 600               # requests per minute and key
    on_loss: show          # refuse: requests that would lose something in translation are refused
    # budget: { month: 100 }   # US dollars

# Keys are created with \`interlingua keys create NAME\`. They can also be defined here:
# keys:
#   - { name: dev, key: "\${DEV_KEY}", group: default }

channels:                  # accounts at providers; docs/configuration.md lists the presets
${lines.join('\n')}

# models:                  # facts about models that the catalogue lacks, and fallbacks
#   my-model: { context: 131072, price: { input: 3, output: 15 } }
`
}
