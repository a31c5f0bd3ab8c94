import type { BrowserContext } from 'playwright-core'
import type { ConsoleGateway } from './gateway.ts'

/** Signs a browser in. */
export async function signInto(
  context: BrowserContext,
  { admin, address }: ConsoleGateway,
  role: 'admin' | 'viewer',
): Promise<void> {
  const user = { name: role === 'admin' ? 'ada' : 'vera', role }
  await context.setExtraHTTPHeaders({ authorization: `Bearer ${admin.token}` })
  await context.route(`${address}/admin/v1/session`, route =>
    route.fulfill({
      json: { user, csrf: 'c'.repeat(43), expires_at: new Date(Date.now() + 3_600_000).toISOString(), oidc: false },
    }),
  )
}
