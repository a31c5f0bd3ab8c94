import { PROBE } from '../accounts/limits/redis-script.ts'
import { withEscapedControls } from '../canonical/text.ts'
import type { OpenRedis } from '../store/cluster/redis.ts'
import type { Finding } from './doctor-checks.ts'

/** Names of values that the check writes. In a cluster of several shards, they are in several of them. */
const PROBE_KEYS = Array.from({ length: 16 }, (_, index) => `interlingua:limits:{probe-${index}}`)

/** Remedies by the start of the error that Redis replies. */
const REMEDIES: readonly (readonly [error: RegExp, remedy: string])[] = [
  [/^(MOVED|CROSSSLOT|CLUSTERDOWN)/, 'use a primary, or a cluster of one shard: several shards are not supported'],
  [/^(WRONGPASS|NOAUTH)/, 'check the user and the password in `redis`, and percent-encode special characters'],
  [/^(NOPERM|ERR The user|ERR ACL)/, 'let the user run scripts, and use all keys and channels `interlingua:*`'],
  [/^OOM/, 'raise `maxmemory` of Redis'],
  [
    /^ERR unknown command/,
    'use the address of the primary, or of a proxy that follows it: a Sentinel itself serves no data',
  ],
  [/^READONLY/, 'use the address of the primary: this server is a replica'],
  [/SELF_SIGNED|UNABLE_TO_/, 'set NODE_EXTRA_CA_CERTS to the file with the certificate of its authority'],
  [
    /ECONNRESET|EPROTO|ERR_SSL|closed|does not answer/,
    'check host and port, and write `rediss:` if the server demands TLS, `redis:` if it has none',
  ],
]
const OTHER_REMEDY = 'check `redis`'

/** Checks that Redis answers, and accepts what limits and notices need. */
export async function redisFinding(redis: OpenRedis | undefined): Promise<Finding | undefined> {
  if (redis === undefined) return undefined
  const fault = await faultOf(redis)
  if (fault === undefined) return { level: 'ok', subject: 'redis', text: 'it answers' }
  const [, remedy = OTHER_REMEDY] = REMEDIES.find(([error]) => error.test(fault)) ?? []
  return {
    ...{ level: 'fault', subject: 'redis', text: withEscapedControls(fault) },
    remedy: `${remedy}; until then, each machine counts limits on its own`,
  }
}

/** Time for which a first connection that neither opened nor failed is awaited, in milliseconds. */
const CONNECTION_TIMEOUT_MS = 3000

/** Returns the first error of Redis, or undefined if it accepts everything. */
async function faultOf(redis: OpenRedis): Promise<string | undefined> {
  if (!redis.isUp && redis.lastFault === undefined) await redis.ready(CONNECTION_TIMEOUT_MS)
  if (!redis.isUp) return redis.lastFault ?? 'it does not answer'
  try {
    for (const key of PROBE_KEYS) await redis.run(PROBE, [key], [])
    await redis.checkNotices()
    return undefined
  } catch (thrown) {
    return (thrown as Error).message.split('\n', 1)[0]
  }
}
