import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { Key, Model, NewKey } from '../../api/types.ts'
import { type Loaded, useLoad } from '../../api/use-load.ts'
import { freshKey } from '../../fresh-key.ts'
import { addressesOf, usualKey, usualModel } from './choices.ts'
import { type About, loadAbout, loadKeys, loadModels, type Models } from './load.ts'

/** What clients connect with, as it is chosen. */
export interface Connection {
  readonly about: Loaded<About>
  readonly keys: Loaded<readonly Key[]>
  readonly models: Loaded<Models>
  readonly addresses: readonly string[]
  readonly base: string
  readonly key: Key | undefined
  readonly model: Model | undefined
  /** The secret of the key, where it was made on this visit. */
  readonly secret: string | undefined
  setBase(base: string): void
  setKey(id: string): void
  setModel(id: string): void
  /** A key that was just made. */
  made(key: NewKey): Promise<void>
}

/** Keys and models by the query (`?key=ID&model=ID`) and by what is chosen then. */
export function useConnection(): Connection {
  const { query } = useLocation()
  const [baseChosen, setBase] = useState<string>()
  const [keyChosen, setKey] = useState(query['key'])
  const [modelChosen, setModel] = useState(query['model'])
  const about = useLoad(loadAbout)
  const keys = useLoad(loadKeys)
  const fresh = freshKey.value

  const all = keys.data ?? []
  const key = all.find(one => one.id === keyChosen) ?? all.find(one => one.name === fresh?.name) ?? usualKey(all)
  const models = useLoad(
    // Which key it is has to be known first.
    async signal => (keys.data === undefined ? undefined : loadModels(key?.id, signal)),
    [key?.id, keys.data === undefined],
  )
  // Those of another key are none of this one's.
  const own = models.data?.key === key?.id ? models.data : undefined
  const talking = own?.talking ?? []
  const model = talking.find(({ id }) => id === modelChosen) ?? usualModel(talking)
  const addresses = addressesOf(about.data?.settings.public_urls ?? [], location.origin)
  return {
    ...{ about, keys, addresses, key, model },
    models: { ...models, data: own },
    base: addresses.find(one => one === baseChosen) ?? addresses[0],
    secret: key !== undefined && fresh?.name === key.name ? fresh.secret : undefined,
    ...{ setBase, setKey, setModel },
    made: async ({ id, name, secret }) => {
      await keys.reload()
      freshKey.value = { name, secret }
      setKey(id)
    },
  }
}
