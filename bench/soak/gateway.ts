import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../src/kit/conformance/free-port.ts'
import { KEY } from '../configs.ts'
import type { Reading } from '../meter.ts'
import { pinned } from '../pin.ts'
import { opened, STARTED } from '../setup.ts'
import { FORMATS, MODES } from './calls.ts'

/** The gateway of the soak, with its data in a folder. */
export interface SoakedGateway {
  readonly origin: string
  readonly child: ChildProcess
  /** Token for the admin API. */
  readonly token: string
  /** Collects garbage and reads the resource usage. */
  read(): Promise<Reading>
}

/** Each model has one channel. One that always fails has another behind it. */
const channelsAt = (upstream: string) =>
  FORMATS.flatMap(format =>
    MODES.flatMap(mode => {
      const channel = (name: string, answers: string, priority: number) => ({
        ...{ name, provider: 'custom', formats: [format], priority, key: 'upstream-key' },
        base_url: `${upstream}/${answers}${format === 'chat' ? '/v1' : ''}`,
        models: { [`${format}-${mode}`]: 'upstream-model' },
      })
      const first = channel(`${format}-${mode}`, mode, 0)
      return mode === 'failing' ? [first, channel(`${format}-spare`, 'text', 1)] : [first]
    }),
  )

/** Starts the gateway, with captures, limits, prices and usage, over a store in PostgreSQL. */
export async function startGateway(folder: string, upstream: string, store: string): Promise<SoakedGateway> {
  const port = await freePort()
  const data = join(folder, 'data')
  mkdirSync(data)
  const path = join(folder, 'interlingua.json')
  const config = {
    server: { host: '127.0.0.1', port, drain: '0s', grace: '5s' },
    ...{ data_dir: data, store, capture: { limit: '16MiB' }, responses: { keep: '1d' } },
    groups: { default: { models: ['*'], rpm: 1e9, tpm: 1e12, concurrent: 100_000 } },
    keys: [{ name: 'soak', key: KEY, group: 'default' }],
    models: Object.fromEntries(
      FORMATS.flatMap(format => MODES.map(mode => [`${format}-${mode}`, { price: { input: 3, output: 15 } }])),
    ),
    channels: channelsAt(upstream),
  }
  writeFileSync(path, JSON.stringify(config))
  const log = openSync(join(folder, 'log'), 'w')
  const token = execFileSync(process.execPath, [...STARTED, 'admin', 'token', 'soak', '--config', path], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', log],
  }).trim()
  const flags = ['--expose-gc', '--import', './bench/meter.ts', ...STARTED]
  const [command, ...args] = pinned('proxy', [process.execPath, ...flags, 'serve', '--config', path])
  const child = spawn(command!, args, { stdio: ['ignore', log, log, 'ipc'] })
  await opened(port)
  const read = (): Promise<Reading> =>
    new Promise((resolve, reject) => {
      child.once('message', reading => resolve(reading as Reading))
      child.send('clean', fault => fault && reject(fault))
    })
  return { origin: `http://127.0.0.1:${port}`, child, token, read }
}
