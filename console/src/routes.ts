import type { IconName } from './ui/icon.tsx'

/** Identifies a page: its title in `common().pages` and its component in `views.ts` have this key. */
export type PageName =
  | 'overview'
  | 'start'
  | 'models'
  | 'keys'
  | 'usage'
  | 'traffic'
  | 'translator'
  | 'channels'
  | 'audit'
  | 'account'

/** Address, shortcut and icon of one page. */
export interface PageRoute {
  readonly name: PageName
  /** Path below `/console`. */
  readonly path: string
  /** Second key of the shortcut `g …`. */
  readonly key?: string
  readonly icon: IconName
  /** Whether only administrators see the page in the navigation. */
  readonly adminOnly?: true
}

/** One row per page, in the order of the navigation. `views.ts` has the components. */
export const ROUTES: readonly PageRoute[] = [
  { name: 'overview', path: '/overview', key: 'o', icon: 'overview' },
  { name: 'start', path: '/start', key: 's', icon: 'start' },
  { name: 'models', path: '/models', key: 'm', icon: 'models' },
  { name: 'keys', path: '/keys', key: 'k', icon: 'keys' },
  { name: 'usage', path: '/usage', key: 'u', icon: 'usage' },
  { name: 'traffic', path: '/traffic', key: 't', icon: 'traffic' },
  { name: 'translator', path: '/translator', key: 'x', icon: 'translator' },
  { name: 'channels', path: '/channels', key: 'c', icon: 'channels' },
  { name: 'audit', path: '/audit', key: 'a', icon: 'audit', adminOnly: true },
  { name: 'account', path: '/account', icon: 'account' },
]

/** The page at `/`: the overview for administrators, else Start, as also for links with a query. */
export const homeOf = (isAdmin: boolean, hasQuery: boolean): PageName => (isAdmin && !hasQuery ? 'overview' : 'start')
