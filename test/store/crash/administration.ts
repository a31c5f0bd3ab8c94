import { hashOf } from '../../../src/config/hash.ts'
import type { KeySecret } from '../../../src/store/access-records.ts'
import { AT, EXPIRES, type Operation, together } from './operation.ts'

const secretOf = (text: string): KeySecret => ({ hash: hashOf(text), prefix: 'il-', lastFour: 'last', createdAt: AT })

/** The life of a key: it is created, gets a second secret, and is revoked. */
function lifeOfKey(number: number): readonly Operation[] {
  const id = `key-${number}`
  const [first, second] = ['first', 'second'].map(name => secretOf(`${name} secret of key ${number}`))
  return [
    {
      name: `key ${number}`,
      isDurable: true,
      run: store =>
        store.access.createKey({
          ...{ id, name: id, group: 'default', limits: {}, enabled: true, createdAt: AT, secrets: [first!] },
        }),
      async visible(store) {
        const key = await store.access.key(id)
        const hasSecret = key?.secrets.some(({ hash }) => hash === first!.hash) === true
        return together({ key: key !== undefined, secret: hasSecret })
      },
    },
    {
      name: `second secret of key ${number}`,
      isDurable: true,
      run: store => store.access.rotateKey(id, second!, AT),
      async visible(store) {
        const secrets = (await store.access.key(id))?.secrets ?? []
        return together({ both: secrets.length === 2, older: secrets.some(({ expiresAt }) => expiresAt === AT) })
      },
    },
    {
      name: `revocation of key ${number}`,
      isDurable: true,
      run: store => store.access.revokeKey(id, AT),
      visible: async store => together({ revoked: (await store.access.key(id))?.revokedAt !== undefined }),
    },
  ]
}

/** A group, a stored channel, a token of the admin API, and a user of the console who signs in and out. */
function others(number: number): readonly Operation[] {
  const name = `name-${number}`
  const hash = hashOf(name)
  const session = { hash, user: name, createdAt: AT, usedAt: AT, expiresAt: EXPIRES }
  return [
    {
      name: `group ${number}`,
      isDurable: true,
      run: store => store.access.putGroup({ name, models: [], limits: {}, onLoss: 'show', createdAt: AT }),
      visible: async store => together({ group: (await store.access.groups()).some(group => group.name === name) }),
    },
    {
      name: `stored channel ${number}`,
      isDurable: true,
      run: store =>
        store.config.changeEntry('channel', name, () => ({
          ...{ kind: 'channel', name, settings: {}, createdAt: AT, updatedAt: AT },
        })),
      visible: async store => together({ entry: (await store.config.entries()).some(entry => entry.name === name) }),
    },
    {
      name: `admin token ${number}`,
      isDurable: true,
      run: store => store.access.addToken({ id: name, name, hash, prefix: 'iladm-', lastFour: 'last', createdAt: AT }),
      visible: async store => together({ token: (await store.access.token(hash)) !== undefined }),
    },
    {
      name: `user ${number}`,
      isDurable: true,
      run: store => store.console.addUser({ name, role: 'admin', source: 'password', enabled: true, createdAt: AT }),
      visible: async store => together({ user: (await store.console.user(name)) !== undefined }),
    },
    {
      name: `sign-in ${number}`,
      isDurable: true,
      run: store => store.console.openSignInSession(session, undefined, 9),
      visible: async store => together({ session: (await store.console.signInSession(hash)) !== undefined }),
    },
  ]
}

/** Everything that an administrator does. */
export const administration = (round: number): readonly Operation[] => [...lifeOfKey(round), ...others(round)]
