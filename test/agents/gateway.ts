import { readConfig } from '../../src/config/read.ts'
import { type Log, openServer, type RunningServer } from '../../src/server/index.ts'
import { type Cell, modelOf } from './cell.ts'

/** The key of the clients. Upstreams must never see it. */
export const CALLER_KEY = 'il-agents-0123456789abcdef0123456789'
const UPSTREAM_KEY = 'sk-upstream-0123456789'

export interface Gateway {
  readonly server: RunningServer
  readonly lines: readonly string[]
}

/**
 * Opens a gateway as an operator would set it up for one provider: with its preset, at another address.
 *
 * @param address where the provider is.
 * @param dir where it may keep what it keeps.
 */
export async function openGateway(cell: Cell, address: string, dir: string): Promise<Gateway> {
  const { name, provider, formatName, basePath, model, settings } = cell.upstream
  const models = Object.fromEntries([modelOf(cell), ...(cell.client.otherModels ?? [])].map(asked => [asked, model]))
  const channel = { name, provider, formats: [formatName], base_url: address + basePath, models }
  const config = {
    server: { port: 0, drain: '0s', grace: '1s' },
    data_dir: dir,
    keys: [{ name: 'agents', key: CALLER_KEY }],
    channels: [{ ...channel, ...settings, key: UPSTREAM_KEY }],
  }
  const lines: string[] = []
  const noting = (level: keyof Log) => (fields: object, message: string) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`)
  const log: Log = { info: noting('info'), warn: noting('warn'), error: noting('error') }
  return { server: await openServer({ config: readConfig(JSON.stringify(config), {}), log }), lines }
}
