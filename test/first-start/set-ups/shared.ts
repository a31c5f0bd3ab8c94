import assert from 'node:assert/strict'
import { noPostgres, startPostgres } from '../../builders/postgres.ts'
import { HAS_REDIS, RedisServer } from '../../builders/redis.ts'
import { TURNS } from '../endpoints/said.ts'
import { tryEndpoints } from '../endpoints.ts'
import type { Outcomes } from '../outcomes.ts'
import { KEY, Started } from '../started.ts'
import { runsFromBundle } from './bundle.ts'

/** Two workers on PostgreSQL and Redis: everything of the first start once more, and what processes share. */
export async function shared(outcomes: Outcomes, checkout: string): Promise<void> {
  if (noPostgres !== undefined) return outcomes.skip('PostgreSQL, Redis and two workers', noPostgres)
  if (!HAS_REDIS) return outcomes.skip('PostgreSQL, Redis and two workers', 'there is no redis-server')
  const [postgres, redis] = [await startPostgres(), await RedisServer.open()]
  const keys = ['dev', 'slow'].map(name => ({ name, key: `${KEY}-${name}`, ...(name === 'slow' ? { rpm: 3 } : {}) }))
  const config = {
    store: (await postgres.database()).url,
    redis: redis.url,
    server: { workers: 2 },
    keys,
  }
  const started = await Started.open(checkout, config)
  try {
    const administrator = started.administrator()
    await outcomes.try('the bundle runs in both workers', () => runsFromBundle(administrator, 2))
    await outcomes.try('both engines are in use', async () => {
      const { json } = await administrator('/admin/v1/status')
      assert.deepEqual([json.store, json.redis, json.workers], [{ engine: 'postgres' }, { up: true }, 2])
    })
    const world = { address: started.address, key: `${KEY}-dev`, model: 'replay', made: new Map<string, string>() }
    await tryEndpoints(outcomes, { ...world, ask: started.as(`${KEY}-dev`) })
    await outcomes.try('a limit counts for both workers', async () => {
      const ask = started.as(`${KEY}-slow`)
      const body = { model: 'replay', messages: TURNS }
      for (let asked = 0; asked < 3; asked++) await ask('/v1/chat/completions', { body })
      await ask('/v1/chat/completions', { body }, 429)
    })
    await outcomes.try('it stops in order', () => started.stop())
  } finally {
    await started.kill()
    await redis.close()
    await postgres.close()
  }
}
