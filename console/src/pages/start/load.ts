import { get } from '../../api/request.ts'
import type { AllOf, Key, Model, PageOf, Settings, Status } from '../../api/types.ts'

/** Settings and status of the gateway. */
export interface About {
  readonly settings: Settings
  readonly status: Status
}

/** Loads the gateway's settings and status. */
export async function loadAbout(signal: AbortSignal): Promise<About> {
  const [settings, status] = await Promise.all([
    get<Settings>('/config', {}, signal),
    get<Status>('/status', {}, signal),
  ])
  return { settings, status }
}

/** Maximum number of keys that can be chosen from. */
const MOST = 1000

/**
 * Loads the keys that are valid now.
 *
 * @param chosen id of a key to include, even if there are too many keys before it.
 */
export async function loadKeys(chosen: string | undefined, signal: AbortSignal): Promise<readonly Key[]> {
  const keys: Key[] = []
  let cursor: string | undefined
  do {
    const page: PageOf<Key> = await get('/keys', { limit: 200, cursor }, signal)
    keys.push(...page.data.filter(works))
    cursor = page.next_cursor
  } while (cursor !== undefined && keys.length < MOST)
  if (chosen === undefined || cursor === undefined || keys.some(({ id }) => id === chosen)) return keys
  const one = await get<Key>(`/keys/${encodeURIComponent(chosen)}`, {}, signal).catch(() => undefined)
  return one !== undefined && works(one) ? [...keys, one] : keys
}

const works = ({ enabled, revoked_at, expires_at }: Key): boolean =>
  enabled && revoked_at === undefined && (expires_at === undefined || Date.parse(expires_at) > Date.now())

/** Conversation models, and the number of other models. */
export interface Models {
  /** Id of the key that may call the models. Undefined for all models of the gateway. */
  readonly key: string | undefined
  readonly talking: readonly Model[]
  readonly others: number
}

/** Loads the models a key may call, or all models. */
export async function loadModels(key: string | undefined, signal: AbortSignal): Promise<Models> {
  const { data } = await get<AllOf<Model>>('/models', { key }, signal)
  const talking = data.filter(({ abilities }) => abilities.includes('converse'))
  return { key, talking, others: data.length - talking.length }
}
