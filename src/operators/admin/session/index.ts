import { OIDC_ROUTES } from './oidc.ts'
import { PASSWORD_ROUTES } from './password.ts'
import type { SessionRoute } from './route.ts'

/** Routes for signing in and out of the console. */
export const SESSION_ROUTES: readonly SessionRoute[] = [...PASSWORD_ROUTES, ...OIDC_ROUTES]
