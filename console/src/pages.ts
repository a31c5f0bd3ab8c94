import type { ComponentType } from 'preact'
import type { IconName } from './ui/icon.tsx'

/** Names of the pages, by which their titles are found. */
export type PageName = 'start' | 'models' | 'keys' | 'usage' | 'traffic' | 'translator' | 'channels' | 'account'

export interface Page {
  readonly name: PageName
  /** Below `/console`. */
  readonly path: string
  /** What follows `g`. */
  readonly key?: string
  readonly icon: IconName
  readonly load: () => Promise<{ readonly default: ComponentType }>
}

/** One row per page: its address, its shortcut, and the code that is loaded with it. */
export const PAGES: readonly Page[] = [
  { name: 'start', path: '/', key: 's', icon: 'start', load: () => import('./pages/start/index.tsx') },
  { name: 'models', path: '/models', key: 'm', icon: 'models', load: () => import('./pages/models/index.tsx') },
  { name: 'keys', path: '/keys', key: 'k', icon: 'keys', load: () => import('./pages/keys/index.tsx') },
  { name: 'usage', path: '/usage', key: 'u', icon: 'usage', load: () => import('./pages/usage/index.tsx') },
  { name: 'traffic', path: '/traffic', key: 't', icon: 'traffic', load: () => import('./pages/traffic/index.tsx') },
  {
    ...{ name: 'translator', path: '/translator', key: 'x', icon: 'translator' },
    load: () => import('./pages/translator/index.tsx'),
  },
  { name: 'channels', path: '/channels', key: 'c', icon: 'channels', load: () => import('./pages/channels/index.tsx') },
  { name: 'account', path: '/account', icon: 'account', load: () => import('./pages/account/index.tsx') },
]

/** Where the page lies, as links name it. */
export const BASE = '/console'
export const hrefOf = (path: string): string => BASE + path
