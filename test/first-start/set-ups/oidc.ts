import assert from 'node:assert/strict'
import { CLIENT, OidcProvider } from '../../builders/oidc-provider.ts'
import type { Answer } from '../ask.ts'
import type { Outcomes } from '../outcomes.ts'
import { Started } from '../started.ts'
import { runsFromBundle } from './bundle.ts'

const ADA = { sub: '1', preferred_username: 'Ada', groups: ['platform'] }

/** Signs in to the console with the password of the first start, and with an OpenID Connect provider. */
export async function oidc(outcomes: Outcomes, checkout: string): Promise<void> {
  const provider = await OidcProvider.open()
  const settings = { issuer: provider.issuer, client_id: CLIENT.id, client_secret: CLIENT.secret, name: 'Example' }
  const roles = { claim: 'groups', roles: { admin: ['platform'] } }
  const started = await Started.open(checkout, { console: { oidc: { ...settings, ...roles } } })
  const ask = started.as('')
  const who = async (answer: Answer) =>
    (await ask('/admin/v1/session', { headers: { cookie: cookiesOf(answer) } })).json.user
  try {
    await outcomes.try('the bundle runs', () => runsFromBundle(started.administrator()))
    await outcomes.try('a user signs in at the provider', async () => {
      const crossing = { 'sec-fetch-site': 'cross-site' }
      const begun = await ask('/admin/v1/session/oidc', { headers: crossing }, 302)
      const query = provider.authorise(begun.headers.location!, ADA)
      const headers = { ...crossing, cookie: cookiesOf(begun) }
      const back = await ask(`/admin/v1/session/oidc/callback?${query}`, { headers }, 302)
      assert.equal(back.headers.location, '/console/')
      const { name, role } = await who(back)
      assert.deepEqual([name, role], ['ada', 'admin'])
    })
    await outcomes.try('the first user signs in with the printed password', async () => {
      const [, password] = /as admin with the password (\S+)/.exec(started.out)!
      const headers = { origin: started.address, 'sec-fetch-site': 'same-origin' }
      const signedIn = await ask('/admin/v1/session', { headers, body: { name: 'admin', password } })
      assert.equal((await who(signedIn)).name, 'admin')
    })
    await outcomes.try('it stops in order', () => started.stop())
  } finally {
    await started.kill()
    await provider.close()
  }
}

/** Returns the cookies that an answer sets, as a browser returns them. */
const cookiesOf = ({ headers }: Answer): string =>
  (headers['set-cookie'] ?? []).map(cookie => cookie.split(';')[0]).join('; ')
