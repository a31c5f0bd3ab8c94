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

/** Sections of the navigation, in order. */
export const SECTIONS = ['observe', 'provide', 'build'] as const

/** Address, shortcut and icon of one page. */
export interface PageRoute {
  readonly name: PageName
  /** Path below `/console`. */
  readonly path: string
  /** Second key of the shortcut `g …`. */
  readonly key?: string
  readonly icon: IconName
  /** Section of the navigation. A page without one has its link elsewhere. */
  readonly section?: (typeof SECTIONS)[number]
  /** Whether only administrators see the page in the navigation. */
  readonly adminOnly?: true
}

/** One row per page, in the order of the navigation. `views.ts` has the components. */
export const ROUTES: readonly PageRoute[] = [
  { name: 'overview', path: '/overview', key: 'o', icon: 'overview', section: 'observe' },
  { name: 'traffic', path: '/traffic', key: 't', icon: 'traffic', section: 'observe' },
  { name: 'usage', path: '/usage', key: 'u', icon: 'usage', section: 'observe' },
  { name: 'audit', path: '/audit', key: 'a', icon: 'audit', section: 'observe', adminOnly: true },
  { name: 'channels', path: '/channels', key: 'c', icon: 'channels', section: 'provide' },
  { name: 'models', path: '/models', key: 'm', icon: 'models', section: 'provide' },
  { name: 'keys', path: '/keys', key: 'k', icon: 'keys', section: 'provide' },
  { name: 'start', path: '/start', key: 's', icon: 'start', section: 'build' },
  { name: 'translator', path: '/translator', key: 'x', icon: 'translator', section: 'build' },
  { name: 'account', path: '/account', icon: 'account' },
]

/** The page at `/`: the overview for administrators, else Start, as also for links with a query. */
export const homeOf = (isAdmin: boolean, hasQuery: boolean): PageName => (isAdmin && !hasQuery ? 'overview' : 'start')
