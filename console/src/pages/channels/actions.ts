import type { Channel } from '../../api/types.ts'
import { isAdmin } from '../../session-state.ts'
import type { IconName } from '../../ui/icon.tsx'
import type { MenuItem } from '../../ui/menu.tsx'
import { text } from './texts.ts'

export type Action = 'test' | 'drain' | 'resume' | 'edit' | 'yaml' | 'delete'

/** Returns true for a channel of the store, in use or not. Channels of the config file can only be read. */
export const isStored = ({ stored }: Channel): boolean => stored !== undefined

/** Actions that the signed-in user may take on a channel. */
export function actionsOf(channel: Channel): readonly Action[] {
  if (!isAdmin.value) return []
  const { state, source } = channel
  const running: readonly Action[] = state === 'unusable' ? [] : ['test', state === 'drained' ? 'resume' : 'drain']
  if (!isStored(channel)) return running
  return [...running, ...(source === 'store' ? (['edit', 'yaml'] as const) : []), 'delete']
}

/** Icon of each action. */
export const ICONS: { readonly [A in Action]: IconName } = {
  ...{ test: 'play', drain: 'stop', resume: 'rotate', edit: 'edit', yaml: 'copy', delete: 'trash' },
}

/** Menu items for the allowed actions. */
export const menuOf = (channel: Channel, onAction: (action: Action) => void): readonly MenuItem[] =>
  actionsOf(channel).map(action => ({
    label: text().actions[action],
    icon: ICONS[action],
    danger: action === 'delete',
    onSelect: () => onAction(action),
  }))
