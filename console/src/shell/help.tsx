import { common } from '../i18n/common.ts'
import { helpOpen, ownShortcuts, shortcuts } from '../keyboard.ts'
import { ROUTES } from '../routes.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Check } from '../ui/field.tsx'

/** Dialog with the keyboard shortcuts. */
export function Help() {
  if (!helpOpen.value) return null
  const text = common()
  const rows: readonly (readonly [keys: string, what: string])[] = [
    ...ROUTES.filter(one => one.key !== undefined).map(
      one => [`g ${one.key}`, text.shortcuts.goTo(text.pages[one.name])] as const,
    ),
    ['/', text.shortcuts.search],
    ...ownShortcuts(),
    ['?', text.shortcuts.help],
    ['Esc', text.shortcuts.close],
  ]
  return (
    <Dialog title={text.shortcuts.title} onClose={() => (helpOpen.value = false)}>
      <dl class="shortcuts">
        {rows.map(([keys, what]) => (
          <div key={keys}>
            <dt>{what}</dt>
            <dd>
              {keys.split(' ').map(key => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <Check
        label={text.shortcuts.enabled}
        checked={shortcuts.value === 'on'}
        onValue={on => (shortcuts.value = on ? 'on' : 'off')}
      />
    </Dialog>
  )
}
