import type { Channel } from '../../api/types.ts'
import { isAdmin } from '../../session-state.ts'
import type { MenuItem } from '../../ui/menu.tsx'
import { text } from './texts.ts'

export type Action = 'test' | 'drain' | 'resume'

/** Actions that the signed-in user may take on a channel. */
export const actionsOf = ({ state }: Channel): readonly Action[] =>
  isAdmin.value ? ['test', state === 'drained' ? 'resume' : 'drain'] : []

/** Icon of each action. */
export const ICONS = { test: 'play', drain: 'stop', resume: 'rotate' } as const

/** Menu items for the allowed actions. */
export const menuOf = (channel: Channel, onAction: (action: Action) => void): readonly MenuItem[] =>
  actionsOf(channel).map(action => ({
    label: text().actions[action],
    icon: ICONS[action],
    onSelect: () => onAction(action),
  }))
