import { useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { Key, Model, NewKey } from '../../api/types.ts'
import { type Loaded, useLoad } from '../../api/use-load.ts'
import { freshKey } from '../../fresh-key.ts'
import { addressesOf, usualKey, usualModel } from './choices.ts'
import { type About, loadAbout, loadKeys, loadModels, type Models } from './load.ts'

/** The chosen address, key and model, with the values to choose from. */
export interface Connection {
  readonly about: Loaded<About>
  readonly keys: Loaded<readonly Key[]>
  readonly models: Loaded<Models>
  readonly addresses: readonly string[]
  readonly base: string
  readonly key: Key | undefined
  readonly model: Model | undefined
  /** Secret of the key, if it was created since the page was loaded. */
  readonly secret: string | undefined
  setBase(base: string): void
  setKey(id: string): void
  setModel(id: string): void
  /** Reloads the keys after one was created and chooses the new key. */
  made(key: NewKey): Promise<void>
}

/** Hook with the chosen connection. The query (`?key=ID&model=ID`) sets the initial key and model. */
export function useConnection(): Connection {
  const { query } = useLocation()
  const [baseChosen, setBase] = useState<string>()
  const [keyChosen, setKey] = useState(query['key'])
  const [modelChosen, setModel] = useState(query['model'])
  const about = useLoad(loadAbout)
  // A reload must include a key that was just created.
  const included = useRef(keyChosen)
  const keys = useLoad(signal => loadKeys(included.current, signal))
  const fresh = freshKey.value

  const all = keys.data ?? []
  const key = all.find(one => one.id === keyChosen) ?? all.find(one => one.name === fresh?.name) ?? usualKey(all)
  const models = useLoad(
    // The models depend on the key, so they load after the keys.
    async signal => (keys.data === undefined ? undefined : loadModels(key?.id, signal)),
    [key?.id, keys.data === undefined],
  )
  // Models of the previously chosen key are not shown.
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
      included.current = id
      await keys.reload()
      freshKey.value = { name, secret }
      setKey(id)
    },
  }
}
