import { OIDC_ROUTES } from './oidc.ts'
import { PASSWORD_ROUTES } from './password.ts'
import type { SessionRoute } from './route.ts'

/** The routes at which users sign in and out. */
export const SESSION_ROUTES: readonly SessionRoute[] = [...PASSWORD_ROUTES, ...OIDC_ROUTES]
