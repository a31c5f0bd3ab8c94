import { toJsonSchema } from '@valibot/to-json-schema'
import { suggestion } from '../config/faults.ts'
import { findConfig, loadConfig } from '../config/file.ts'
import { CONFIG_SCHEMA, type Config } from '../config.ts'
import { DIALECT_FLAGS } from '../providers/dialects.ts'
import type { Terminal } from './outcome.ts'

/** `interlingua check --schema`: the JSON Schema of what an operator may write, before variables are put in. */
export function schemaCommand(terminal: Terminal): void {
  const schema = toJsonSchema(CONFIG_SCHEMA, { typeMode: 'input', errorMode: 'ignore' })
  terminal.out(JSON.stringify({ title: 'Interlingua config', ...schema }, null, 2))
}

/** `interlingua check`: reads the config and says what it would do. */
export function checkCommand(named: string | undefined, terminal: Terminal): void {
  const path = findConfig(named)
  const config = loadConfig(path)
  for (const warning of warnings(config)) terminal.fault(`warning: ${warning}`)
  const from = path === undefined ? 'no config file; from the environment' : path
  const channels = config.channels.map(({ name, formats }) => `${name} (${formats.map(one => one.format).join(', ')})`)
  terminal.out(`${from}: good. ${channels.length} channel${channels.length === 1 ? '' : 's'}: ${channels.join('; ')}`)
}

/** What is allowed and yet surely not meant. */
function* warnings({ channels }: Config): Generator<string> {
  for (const { name, formats, weight, models } of channels) {
    const flags = new Set(formats.flatMap(({ dialect }) => Object.keys(dialect)))
    for (const flag of flags)
      if (!DIALECT_FLAGS.has(flag))
        yield `channel ${name}: unknown dialect flag "${flag}"${suggestion(flag, DIALECT_FLAGS.keys())}`
    if (weight === 0) yield `channel ${name}: weight 0 leaves it for when no other channel is there`
    if (models.named.size === 0 && models.patterns.length === 0) yield `channel ${name}: it has no models`
  }
}
