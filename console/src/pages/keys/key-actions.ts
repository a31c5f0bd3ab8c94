import { patch } from '../../api/request.ts'
import type { Key } from '../../api/types.ts'
import type { MenuItem } from '../../ui/menu.tsx'
import { isCaptured } from './key-state.tsx'
import { text } from './texts.ts'

/** Actions on a key. */
export type KeyAction = 'change' | 'rotate' | 'revoke' | 'capture' | 'enable'

/** Whether a key can be changed here: keys of the config file and revoked keys cannot. */
export const mayChange = ({ source, revoked_at }: Key): boolean => source === 'store' && revoked_at === undefined

/** Menu items for the actions on a key. */
export function menuOf(key: Key, act: (action: KeyAction) => void): readonly MenuItem[] {
  const words = text().actions
  return [
    { label: words.change, icon: 'edit', onSelect: () => act('change') },
    { label: words.rotate, icon: 'rotate', onSelect: () => act('rotate') },
    isCaptured(key)
      ? { label: words.stopCapture, icon: 'stop', onSelect: () => act('capture') }
      : { label: words.capture, icon: 'record', onSelect: () => act('capture') },
    key.enabled
      ? { label: words.disable, icon: 'stop', onSelect: () => act('enable') }
      : { label: words.enable, icon: 'play', onSelect: () => act('enable') },
    { label: words.revoke, icon: 'revoke', danger: true, onSelect: () => act('revoke') },
  ]
}

/** Starts capturing a key's requests for one hour, or stops it. Returns the message to show. */
export async function switchCapture(key: Key): Promise<string> {
  const isOn = isCaptured(key)
  await patch(`/keys/${encodeURIComponent(key.id)}`, { capture: isOn ? null : '1h' })
  return isOn ? text().done.notCapturing(key.name) : text().done.capturing(key.name)
}

/** Enables or disables a key. Returns the message to show. */
export async function switchEnabled(key: Key): Promise<string> {
  await patch(`/keys/${encodeURIComponent(key.id)}`, { enabled: !key.enabled })
  return text().done.changed(key.name)
}
