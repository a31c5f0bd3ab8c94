import type { ComponentType } from 'preact'
import { lazy } from 'preact-iso'
import type { PageName } from './routes.ts'

/** Component of each page, loaded when the page is first opened. Only `app.tsx` imports this list. */
export const VIEWS: { readonly [N in PageName]: ComponentType } = {
  overview: lazy(() => import('./pages/overview/index.tsx')),
  start: lazy(() => import('./pages/start/index.tsx')),
  models: lazy(() => import('./pages/models/index.tsx')),
  keys: lazy(() => import('./pages/keys/index.tsx')),
  usage: lazy(() => import('./pages/usage/index.tsx')),
  traffic: lazy(() => import('./pages/traffic/index.tsx')),
  translator: lazy(() => import('./pages/translator/index.tsx')),
  channels: lazy(() => import('./pages/channels/index.tsx')),
  audit: lazy(() => import('./pages/audit/index.tsx')),
  account: lazy(() => import('./pages/account/index.tsx')),
}
