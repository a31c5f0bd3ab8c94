import { toJsonSchema } from '@valibot/to-json-schema'
import { defined, type JsonObject } from '../canonical/node.ts'
import { findConfig, loadConfig } from '../config/file.ts'
import { CONFIG_SCHEMA } from '../config/index.ts'
import { descriptionOf } from '../config/schema.ts'
import type { Described } from '../config/setting.ts'
import { warnings } from '../config/warnings.ts'
import { counted } from './counted.ts'
import type { Terminal } from './outcome.ts'

/** Returns the meaning and the default of a setting, as editors show them. */
const annotationsOf = ({ meaning, usual }: Described): JsonObject => defined({ description: meaning, default: usual })

/** `interlingua check --schema`: prints the JSON Schema that a config file has before variable interpolation. */
export function schemaCommand(terminal: Terminal): void {
  const schema = toJsonSchema(CONFIG_SCHEMA, {
    ...{ typeMode: 'input', errorMode: 'ignore' },
    overrideSchema: ({ valibotSchema, jsonSchema }) => ({
      ...(descriptionOf(valibotSchema) ?? jsonSchema),
      ...annotationsOf(valibotSchema as object),
    }),
  })
  terminal.out(JSON.stringify({ title: 'Interlingua config', ...schema }, null, 2))
}

/**
 * `interlingua check`: validates the config and prints its channels and warnings.
 *
 * @throws ConfigError or RecordingError if the config is invalid, or names a file that would keep the gateway from
 * starting.
 */
export async function checkCommand(file: string | undefined, terminal: Terminal): Promise<void> {
  const path = findConfig(file)
  const config = loadConfig(path)
  const { tls } = config.server
  if (tls !== undefined) (await import('../server/tls.ts')).readPair(tls)
  for (const { folder } of config.channels)
    if (folder !== undefined) (await import('../kit/recordings/folder.ts')).readFolder(folder)
  for (const warning of warnings(config)) terminal.fault(`warning: ${warning}`)
  const from = path === undefined ? 'no config file (using environment variables)' : path
  const channels = config.channels.map(({ name, formats }) => `${name} (${formats.map(one => one.format).join(', ')})`)
  const count = counted(channels.length, 'channel')
  terminal.out(`${from}: valid. ${[count, channels.join('; ')].filter(Boolean).join(': ')}`)
}
