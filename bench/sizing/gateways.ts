import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../src/kit/conformance/free-port.ts'
import { CONFIGS, configOf } from '../configs.ts'
import { opened, STARTED } from '../setup.ts'

/** How many processes serve, and what they share. */
export interface Deployment {
  readonly name: string
  readonly instances?: number
  readonly workers?: number
  readonly store?: 'postgres'
  /** Delay of Redis's answers in milliseconds. Undefined without Redis. */
  readonly redis?: number
}

export const DEPLOYMENTS: readonly Deployment[] = [
  { name: 'one process, SQLite' },
  { name: 'two workers, SQLite', workers: 2 },
  { name: 'one process, PostgreSQL', store: 'postgres' },
  { name: 'two workers, PostgreSQL', workers: 2, store: 'postgres' },
  { name: 'two instances, PostgreSQL, Redis', instances: 2, store: 'postgres', redis: 0 },
  { name: 'two instances, PostgreSQL, Redis 50 ms away', instances: 2, store: 'postgres', redis: 50 },
]

/** The running instances of a deployment. */
export interface Running {
  readonly origins: readonly string[]
  readonly children: readonly ChildProcess[]
}

export interface Services {
  /** Address of the upstream. */
  readonly upstream: string
  /** Creates a database, and returns its address. */
  readonly database: () => Promise<string>
  /** Returns the address of a Redis whose answers are late by some milliseconds. */
  readonly redis: (delay: number) => Promise<string>
  readonly log: number
}

/** Starts all instances of a deployment, with limits of every kind, prices, usage and metrics. */
export async function startGateways(deployment: Deployment, folder: string, services: Services): Promise<Running> {
  const { instances = 1, workers = 1, store, redis } = deployment
  const shared = {
    ...(store === undefined ? {} : { store: await services.database() }),
    ...(redis === undefined ? {} : { redis: await services.redis(redis) }),
  }
  const children: ChildProcess[] = []
  const origins: string[] = []
  for (let instance = 0; instance < instances; instance++) {
    const port = await freePort()
    const data = join(folder, `${instance}`)
    mkdirSync(data, { recursive: true })
    const written = configOf(services.upstream, 'http://127.0.0.1:9', port, data)
    const { server, ...limited } = { ...CONFIGS.limited(written), keys: written.keys, ...shared }
    const path = join(data, 'interlingua.json')
    writeFileSync(path, JSON.stringify({ ...limited, server: { ...server, workers } }))
    children.push(
      spawn(process.execPath, [...STARTED, 'serve', '--config', path], { stdio: ['ignore', services.log, 'inherit'] }),
    )
    await opened(port)
    origins.push(`http://127.0.0.1:${port}`)
  }
  return { origins, children }
}
