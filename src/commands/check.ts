import { toJsonSchema } from '@valibot/to-json-schema'
import { findConfig, loadConfig } from '../config/file.ts'
import { CONFIG_SCHEMA } from '../config/index.ts'
import { warningsOf } from './config-warnings.ts'
import type { Terminal } from './outcome.ts'

/** `interlingua check --schema`: the JSON Schema of a config, before variables are replaced. */
export function schemaCommand(terminal: Terminal): void {
  const schema = toJsonSchema(CONFIG_SCHEMA, { typeMode: 'input', errorMode: 'ignore' })
  terminal.out(JSON.stringify({ title: 'Interlingua config', ...schema }, null, 2))
}

/**
 * `interlingua check`: reads the config and prints its channels and warnings.
 *
 * @throws ConfigError, also where files that it names keep a gateway from starting.
 */
export async function checkCommand(named: string | undefined, terminal: Terminal): Promise<void> {
  const path = findConfig(named)
  const config = loadConfig(path)
  const { tls } = config.server
  if (tls !== undefined) (await import('../server/tls.ts')).readPair(tls)
  for (const warning of warningsOf(config)) terminal.fault(`warning: ${warning}`)
  const from = path === undefined ? 'no config file; from the environment' : path
  const channels = config.channels.map(({ name, formats }) => `${name} (${formats.map(one => one.format).join(', ')})`)
  const count = `${channels.length} channel${channels.length === 1 ? '' : 's'}`
  terminal.out(`${from}: good. ${[count, channels.join('; ')].filter(Boolean).join(': ')}`)
}
