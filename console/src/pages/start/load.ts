import { get } from '../../api/request.ts'
import type { AllOf, Key, Model, PageOf, Settings, Status } from '../../api/types.ts'

/** What the gateway is and where. */
export interface About {
  readonly settings: Settings
  readonly status: Status
}

export async function loadAbout(signal: AbortSignal): Promise<About> {
  const [settings, status] = await Promise.all([
    get<Settings>('/config', {}, signal),
    get<Status>('/status', {}, signal),
  ])
  return { settings, status }
}

/** So many keys can be chosen from. */
const MOST = 1000

/** The keys that work now. */
export async function loadKeys(signal: AbortSignal): Promise<readonly Key[]> {
  const keys: Key[] = []
  let cursor: string | undefined
  do {
    const page: PageOf<Key> = await get('/keys', { limit: 200, cursor }, signal)
    keys.push(...page.data.filter(works))
    cursor = page.next_cursor
  } while (cursor !== undefined && keys.length < MOST)
  return keys
}

const works = ({ enabled, revoked_at, expires_at }: Key): boolean =>
  enabled && revoked_at === undefined && (expires_at === undefined || Date.parse(expires_at) > Date.now())

/** Models that hold a conversation, and how many others there are. */
export interface Models {
  /** The key they are of; undefined where there is none, and they are all there are. */
  readonly key: string | undefined
  readonly talking: readonly Model[]
  readonly others: number
}

export async function loadModels(key: string | undefined, signal: AbortSignal): Promise<Models> {
  const { data } = await get<AllOf<Model>>('/models', { key }, signal)
  const talking = data.filter(({ abilities }) => abilities.includes('converse'))
  return { key, talking, others: data.length - talking.length }
}
