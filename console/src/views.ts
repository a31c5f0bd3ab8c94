import type { ComponentType } from 'preact'
import { lazy } from 'preact-iso'
import type { PageName } from './routes.ts'
import { Broken } from './shell/broken.tsx'

type Module = { readonly default: ComponentType }

/** Loads a page when it is first opened. Its file is gone if the gateway was upgraded since this tab was opened. */
const page = (load: () => Promise<Module>): ComponentType =>
  lazy(() => load().catch((): Module => ({ default: Broken })))

/** Component of each page, loaded when the page is first opened. Only `app.tsx` imports this list. */
export const VIEWS: { readonly [N in PageName]: ComponentType } = {
  overview: page(() => import('./pages/overview/index.tsx')),
  start: page(() => import('./pages/start/index.tsx')),
  models: page(() => import('./pages/models/index.tsx')),
  keys: page(() => import('./pages/keys/index.tsx')),
  usage: page(() => import('./pages/usage/index.tsx')),
  traffic: page(() => import('./pages/traffic/index.tsx')),
  translator: page(() => import('./pages/translator/index.tsx')),
  channels: page(() => import('./pages/channels/index.tsx')),
  audit: page(() => import('./pages/audit/index.tsx')),
  account: page(() => import('./pages/account/index.tsx')),
}
